"""Describes the extension module `native._engine` to the package build; run by setup.py only.

The extension is the engine's own C sources plus the bridge that cffi generates from the public
header. This file knows where the sources are and how they are compiled; it knows nothing about what
the functions do: the header include/qsm.h is the single description of the interface.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from cffi import FFI

NATIVE = Path(__file__).resolve().parent
ROOT = NATIVE.parent

HEADER = NATIVE / "include" / "qsm.h"
# `extern "Python"` declarations: the functions that C calls and transport implements.
CALLBACKS = NATIVE / "callbacks.cdef"

TAKE_FROM = "/* cffi: begin */"
TAKE_UNTIL = "/* cffi: end */"

# A macro with parameters, up to its body.
_DEFINE = r"^\s*#\s*define\s+(\w+)\(([^)]*)\)[ \t]*"

# One driver speaks to the operating system; which one is decided where the engine is compiled.
FOREIGN_DRIVER = "udp_posix" if sys.platform == "win32" else "udp_win32"

COMPILE_ARGS = [
    *("-std=c17", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"),
    # Python's own flags switch assertions off. They stay on: the simulator runs through here as
    # well, and a broken invariant must end the program rather than go out to everybody else.
    "-UNDEBUG",
]

# The generated bridge has parameters that it does not read (a module's `self`) and leaves fields
# of its tables to their defaults. setuptools has one set of flags for all files of an extension, so
# the exception is stated inside the one file that needs it; the engine keeps every warning.
BRIDGE_PREAMBLE = """
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "qsm.h"
"""


class HeaderError(Exception):
    """The public header cannot be turned into declarations for cffi."""


def declarations(header: str) -> str:
    """The part of a C header between the two markers, as cffi's parser accepts it.

    Kept: declarations, and `#define NAME` of an integer, which become constants. Another macro with
    a value (a sum of others) becomes a constant that the C compiler evaluates; one with arguments
    is refused, unless it is a list or the entry of one (`write_out_lists`). Includes and
    conditionals are left out.
    """
    begin, end = header.find(TAKE_FROM), header.find(TAKE_UNTIL)
    if begin < 0 or end < begin:
        raise HeaderError(f"the header needs {TAKE_FROM} and, after it, {TAKE_UNTIL}")
    text = header[begin + len(TAKE_FROM) : end]
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = write_out_lists(text.replace("\\\n", " "))
    lines = (_line_for_cffi(line) for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def write_out_lists(text: str) -> str:
    """Does what the C preprocessor does with lists, which cffi's parser cannot.

    A list is `#define LIST(X) X(A, a) X(B, b)`, an entry `#define ENTRY(NAME, name) QSM_##NAME,`;
    where `LIST(ENTRY)` stands, the entry is written for each element.
    """
    macros = {
        name: ([word.strip() for word in parameters.split(",")], body)
        for name, parameters, body in re.findall(f"{_DEFINE}(.*)$", text, flags=re.M)
    }
    lists = {name: body for name, (parameters, body) in macros.items() if parameters == ["X"]}
    for name, body in lists.items():
        if re.sub(r"\bX\([^()]*\)", "", body).strip():
            raise HeaderError(f"{name}: a list has nothing but X(…) in it")
        for entry in set(re.findall(rf"^[^#\n]*\b{name}\((\w+)\)", text, flags=re.M)):
            if entry not in macros:
                raise HeaderError(f"{entry}: no such entry of the list {name}")
            elements = re.findall(r"\bX\(([^()]*)\)", body)
            written = " ".join(_entry(entry, *macros[entry], element) for element in elements)
            text = re.sub(rf"^([^#\n]*)\b{name}\({entry}\)", rf"\1{written}", text, flags=re.M)
            text = re.sub(rf"^\s*#\s*define\s+{entry}\(.*$", "", text, flags=re.M)
        text = re.sub(rf"^\s*#\s*define\s+{name}\(.*$", "", text, flags=re.M)
    return text


def _entry(name: str, parameters: list[str], body: str, element: str) -> str:
    values = [value.strip() for value in element.split(",")]
    if len(values) != len(parameters):
        raise HeaderError(f"{name}({element}): it takes {len(parameters)} arguments")
    given = dict(zip(parameters, values, strict=True))
    filled = re.sub(r"\w+", lambda word: given.get(word[0], word[0]), body)
    return re.sub(r"\s*##\s*", "", filled)


def _line_for_cffi(line: str) -> str:
    stripped = line.strip()
    if not stripped.startswith("#"):
        # A linkage block has its closing brace outside the markers; inside it would be unbalanced.
        if re.match(r'extern\s+"C"', stripped):
            raise HeaderError('extern "C" belongs outside the markers')
        return line
    macro = re.match(r"#\s*define\s+(\w+)(\()?\s*(.*)$", stripped)
    if macro is None:
        return ""
    name, parenthesis, value = macro.groups()
    if parenthesis:
        raise HeaderError(f"{name}: a macro with arguments cannot be called from Python")
    if not value:
        return ""
    integer = re.fullmatch(r"\(?\s*(-?(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*\s*\)?", value)
    return f"#define {name} {integer[1] if integer else '...'}"


def engine_sources() -> list[str]:
    """Every C file of the engine for this system, relative to the root as setuptools wants."""
    files = sorted((NATIVE / "src").rglob("*.c"))
    ours = [file for file in files if not file.name.startswith(FOREIGN_DRIVER)]
    return [file.relative_to(ROOT).as_posix() for file in ours]


def engine_headers() -> list[str]:
    """Every header, so that a change of one of them compiles the extension again."""
    files = sorted([*(NATIVE / "src").rglob("*.h"), *(NATIVE / "include").rglob("*.h")])
    return [file.relative_to(ROOT).as_posix() for file in files]


def sodium_link_args() -> list[str]:
    """How to link libsodium: its static archive where there is one, else the shared library.

    With the archive inside, the extension runs on a machine that has no libsodium.
    """
    library_dir = _pkg_config("--variable=libdir")
    if library_dir:
        archive = Path(library_dir[0]) / "libsodium.a"
        if archive.is_file():
            # Hidden, so that another copy of libsodium in the same process is not mixed with this.
            hide = [] if sys.platform == "darwin" else ["-Wl,--exclude-libs,libsodium.a"]
            return [str(archive), *hide, "-pthread"]
    return _pkg_config("--libs") or ["-lsodium"]


def _pkg_config(option: str) -> list[str]:
    program = shutil.which("pkg-config")
    if program is None:
        return []
    answer = subprocess.run(
        [program, option, "libsodium"], capture_output=True, text=True, check=False
    )
    return answer.stdout.split() if answer.returncode == 0 else []


def make_builder() -> FFI:
    """The extension, ready for setuptools to generate and compile."""
    builder = FFI()
    builder.cdef(declarations(HEADER.read_text(encoding="utf-8")))
    if CALLBACKS.exists():
        builder.cdef(CALLBACKS.read_text(encoding="utf-8"))
    builder.set_source(
        "native._engine",
        BRIDGE_PREAMBLE,
        sources=engine_sources(),
        depends=engine_headers(),
        include_dirs=["native/include", "native/src"],
        extra_compile_args=[*COMPILE_ARGS, *_pkg_config("--cflags")],
        extra_link_args=sodium_link_args(),
    )
    return builder


# setup.py names this; cffi runs the file under a name of its own. Tests import the functions alone.
if __name__ == "__cffi__":
    ffibuilder = make_builder()
