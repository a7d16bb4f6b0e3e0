"""The header becomes declarations for cffi: what is kept, what is left out, what is refused."""

from __future__ import annotations

import pytest
from cffi import FFI

from native import build_engine
from native.build_engine import HeaderError, declarations


def between_markers(text: str) -> str:
    return f'#include <stdint.h>\nextern "C" {{\n/* cffi: begin */\n{text}\n/* cffi: end */\n}}\n'


def test_declarations_between_the_markers_are_kept() -> None:
    assert declarations(between_markers("int qsm_step(int budget);")) == (
        "int qsm_step(int budget);\n"
    )


@pytest.mark.parametrize(
    ("macro", "kept"),
    [
        ("#define QSM_VERSION 3", "#define QSM_VERSION 3"),
        ("#  define QSM_MASK 0xFFu /* all */", "#define QSM_MASK 0xFF"),
        ("#define QSM_LEAST (-1)", "#define QSM_LEAST -1"),
        ("#define QSM_BIG 1ULL", "#define QSM_BIG 1"),
        ("#define QSM_SUM (QSM_VERSION + \\\n    1)", "#define QSM_SUM ..."),
        ("#define QSM_GUARD", ""),
        ("#ifdef __cplusplus\n#endif", ""),
        ("#include <stddef.h>", ""),
    ],
)
def test_macros_become_constants_and_other_directives_go(macro: str, kept: str) -> None:
    assert declarations(between_markers(macro)).strip() == kept


def test_comments_are_left_out() -> None:
    text = "/* one\n two */ int a; // three\n/** int b; */"
    assert declarations(between_markers(text)).strip() == "int a;"


@pytest.mark.parametrize(
    "header",
    [
        "int f(void);",
        "/* cffi: begin */ int f(void);",
        "/* cffi: end */ int f(void); /* cffi: begin */",
        between_markers("#define QSM_MAX(a, b) ((a) > (b) ? (a) : (b))"),
        between_markers('extern "C" {'),
    ],
)
def test_header_that_cffi_cannot_have_is_refused(header: str) -> None:
    with pytest.raises(HeaderError):
        declarations(header)


LIST = "#define QSM_ALL(X) \\\n    X(ONE, one) /* first */ \\\n    X(TWO, two) \\\n    /* end */\n"
ENTRY = "#define QSM_NUMBER(NAME, name) QSM_##NAME,\n"


def test_a_list_is_written_out_where_an_entry_is_given_to_it() -> None:
    use = "enum all { QSM_ALL(QSM_NUMBER) };\n#undef QSM_NUMBER\nint f(void);"
    text = declarations(between_markers(LIST + ENTRY + use))
    assert text == "enum all { QSM_ONE, QSM_TWO, };\n\nint f(void);\n"
    ffi = FFI()
    ffi.cdef(text)
    assert ffi.typeof("enum all").relements == {"QSM_ONE": 0, "QSM_TWO": 1}


def test_a_list_that_nobody_uses_is_left_out() -> None:
    assert declarations(between_markers(f"{LIST}int a;")).strip() == "int a;"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("#define QSM_ALL(X) X(ONE) + 1\nenum all { QSM_ALL(N) };", "nothing but X"),
        (f"{LIST}enum all {{ QSM_ALL(QSM_MISSING) }};", "QSM_MISSING: no such entry"),
        (f"{LIST}#define N(NAME) NAME,\nenum all {{ QSM_ALL(N) }};", "it takes 1 arguments"),
        (f"{LIST}{ENTRY}int a;", "QSM_NUMBER: a macro with arguments"),
    ],
)
def test_a_list_that_cannot_be_written_out_is_refused(text: str, part: str) -> None:
    with pytest.raises(HeaderError, match=part):
        declarations(between_markers(text))


def test_public_header_can_be_parsed() -> None:
    builder = FFI()
    builder.cdef(declarations(build_engine.HEADER.read_text(encoding="utf-8")))
    if build_engine.CALLBACKS.exists():
        builder.cdef(build_engine.CALLBACKS.read_text(encoding="utf-8"))


def test_driver_of_another_system_is_not_compiled() -> None:
    sources = build_engine.engine_sources()
    assert sources
    assert not [name for name in sources if f"/{build_engine.FOREIGN_DRIVER}" in name]
