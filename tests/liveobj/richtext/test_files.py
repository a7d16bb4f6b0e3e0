"""Documents as files: what a format can hold comes back, and hostile files are refused."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from liveobj.richtext.errors import FileProblem
from liveobj.richtext.files import ENDINGS, read_file, write_file
from liveobj.richtext.html_reader import read_html
from liveobj.richtext.markdown_reader import read_markdown
from liveobj.richtext.markdown_writer import write_markdown
from liveobj.richtext.model import (
    COLOURS,
    Block,
    Content,
    Embedded,
    Image,
    Paragraph,
    Part,
    Run,
    Table,
    joined,
    normal,
    plain_text,
)
from liveobj.richtext.wire import read_json, write_json
from tests.disk_faults import FAULTS, all_files, refusing

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63"
    "304e9b0900020201335687e2540000000049454e44ae426082"
)
FORMATS = [".md", ".html", ".odt", ".docx"]

SAMPLE: Content = (
    Paragraph((Run("A title & more"),), Block("h1")),
    Paragraph(
        (
            Run("plain, "),
            Run("bold", {"bold": True}),
            Run(" and "),
            Run("both", {"bold": True, "italic": True}),
            Run(", "),
            Run("under", {"underline": True}),
            Run(" "),
            Run("gone", {"strike": True}),
            Run(" "),
            Run("x = 1", {"code": True}),
            Run(" "),
            Run("bright", {"highlight": "green"}),
            Run(" "),
            Run("linked", {"link": "https://example.org/?a=1&b=2"}),
            Run("."),
        )
    ),
    Paragraph((Run("Sub"),), Block("h3")),
    Paragraph((Run("one"),), Block("bullet")),
    Paragraph((Run("deeper"),), Block("bullet", 1)),
    Paragraph((Run("two"),), Block("bullet")),
    Paragraph((Run("words between"),)),
    Paragraph((Run("first"),), Block("number")),
    Paragraph((Run("second"),), Block("number")),
    Paragraph((Run("to do"),), Block("check")),
    Paragraph((Run("done"),), Block("check", done=True)),
    Paragraph((Run("A quote."),), Block("quote")),
    Paragraph((Run("if a < b:"),), Block("code")),
    Paragraph((Run("    go()"),), Block("code")),
    Paragraph((Run("line one\u2028line two"),)),
    Table(
        (((Run("Who"),), (Run("What"),)), ((Run("Ada", {"bold": True}),), (Run("a|b"),)), ((), ()))
    ),
    Image(PNG, 120, "a dot"),
    Paragraph((Run("1. not a list"),)),
    Paragraph((Run("# not a heading, *not* italic, <b>not</b> bold"),)),
    Paragraph((Run("The end."),)),
)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_document_of_everything_comes_back(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"sample{ending}"
    write_file(file, SAMPLE, "Sample")
    assert read_file(file) == normal(SAMPLE)


@pytest.mark.parametrize("ending", [".html", ".odt", ".docx"])
def test_alignment_and_empty_paragraphs_come_back(tmp_path: Path, ending: str) -> None:
    content: Content = (
        Paragraph((Run("centred"),), Block(align="center")),
        Paragraph(),
        Paragraph((Run("right"),), Block("h2", align="right")),
        Paragraph((Run("indented"),), Block(indent=2)),
        Paragraph((Run("justified"),), Block(align="justify")),
        Table((((Run("a"),),), ((Run("b"),),)), header=False),
        Paragraph((Run("tab\there"),)),
    )
    if ending == ".html":
        content = content[:-1]
    file = tmp_path / f"sample{ending}"
    write_file(file, content, "Sample")
    assert read_file(file) == content


def test_a_table_without_a_heading_comes_back_from_markdown(tmp_path: Path) -> None:
    content: Content = (Table((((Run("a"),), (Run("b"),)),), header=False),)
    file = tmp_path / "table.md"
    write_file(file, content, "Table")
    assert read_file(file) == content


@pytest.mark.parametrize("ending", [*FORMATS, ".txt"])
def test_an_embedded_object_leaves_its_title_and_no_secret(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"sample{ending}"
    write_file(file, (Embedded(b"<secret/>", "Plan"),), "Sample")
    assert plain_text(read_file(file)).strip() == "Plan"
    assert b"secret" not in file.read_bytes()


# Words without blanks at their ends, which no format promises to keep.
words = st.text("abé漢😀&<>*_#|`[]()!~.-+1\\", min_size=1, max_size=8)
marks = st.fixed_dictionaries(
    {},
    optional={
        "bold": st.just(True),
        "italic": st.just(True),
        "link": st.sampled_from(["https://example.org/a_b", "mailto:a@example.org"]),
        "highlight": st.sampled_from(COLOURS),
    },
)
runs = st.lists(st.builds(Run, words, marks), min_size=1, max_size=3).map(
    lambda found: joined(
        Run(f"{'x' if not n else ' x'}{run.text}x", run.marks) for n, run in enumerate(found)
    )
)
blocks = st.one_of(
    st.builds(Block, st.sampled_from(["", "h1", "h2", "quote"])),
    st.builds(Block, st.sampled_from(["bullet", "check"]), st.integers(0, 2)),
)
paragraphs = st.builds(Paragraph, runs, blocks)
tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(st.one_of(st.just(()), runs), min_size=width, max_size=width).map(tuple),
        min_size=1,
        max_size=3,
    ).map(lambda rows: Table(tuple(rows)))
)
contents = st.lists(st.one_of(paragraphs, paragraphs, tables), min_size=1, max_size=6).map(tuple)


@pytest.mark.parametrize("ending", [".html", ".odt", ".docx"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=contents)
def test_any_content_comes_back(tmp_path: Path, ending: str, content: Content) -> None:
    file = tmp_path / f"any{ending}"
    write_file(file, content, "Any")
    assert read_file(file) == normal(content)


@settings(max_examples=40)
@given(content=contents)
def test_words_and_looks_come_back_from_markdown(content: Content) -> None:
    """Signs next to letters cannot be read back in all cases; words and paragraphs must be."""
    # A list directly after one of another depth is read as its own outline.
    plain = tuple(_without_marks(part) for part in content)
    found = read_markdown(write_markdown(plain))
    assert plain_text(found).split() == plain_text(plain).split()


def _without_marks(part: Part) -> Part:
    if isinstance(part, Paragraph):
        block = replace(part.block, indent=0)
        return Paragraph(joined(Run(run.text) for run in part.runs), block)
    if isinstance(part, Table):
        return Table(tuple(tuple(joined(Run(r.text) for r in c) for c in row) for row in part.rows))
    return part


@settings(max_examples=40)
@given(content=contents)
def test_json_holds_everything(content: Content) -> None:
    more = (*content, Image(PNG, 3, "w"), Embedded(b"<x/>", "t"), Paragraph((Run("end "),)))
    assert read_json(write_json(more)) == normal(more)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"5",
        b"[5]",
        b'[{"runs": 5}]',
        b'[{"runs": [[5]]}]',
        b'[{"runs": [["a", 7]]}]',
        b'[{"image": "!!"}]',
        b'[{"rows": [[["a"]]]}]',
        b"[" * 100_000,
    ],
)
def test_json_that_is_no_content_is_refused(data: bytes) -> None:
    try:
        content = read_json(data)
    except FileProblem:
        return
    assert all(isinstance(part, Paragraph | Table) for part in content)


# Files of others


def test_markdown_as_people_write_it() -> None:
    found = read_markdown(
        "Title\n=====\n\nSome *text*\nthat goes on.\n\n* a\n  * b\n\n3. c\n\n- [X] done\n\n"
        "```py\ncode\n```\n\n> quote\n\n![far](https://tracker.example/x.png)\n<script>x</script>\n"
    )
    assert found == (
        Paragraph((Run("Title"),), Block("h1")),
        Paragraph((Run("Some "), Run("text", {"italic": True}), Run(" that goes on."))),
        Paragraph((Run("a"),), Block("bullet")),
        Paragraph((Run("b"),), Block("bullet", 1)),
        Paragraph((Run("c"),), Block("number")),
        Paragraph((Run("done"),), Block("check", done=True)),
        Paragraph((Run("code"),), Block("code")),
        Paragraph((Run("quote"),), Block("quote")),
        Paragraph((Run("far"),)),
    )


def test_html_as_word_processors_copy_it() -> None:
    found = read_html(
        "<html><head><style>p{}</style><title>no</title></head><body><!--StartFragment-->"
        '<p class="MsoNormal" style="text-align:center"><span style="font-weight:700">Bold</span>'
        " <o:p></o:p></p>\n<div>one<div>two</div>three</div>"
        '<b style="font-weight:normal"><p>not bold</p></b>'
        "<ul><li><p>item</p><ul><li>inner</li></ul></li></ul>"
        "<table><tr><td><p>a</p><p>b</p></td><td><table><tr><td>in</td></tr></table></td></tr>"
        "</table>unclosed <i>words"
    )
    assert found == (
        Paragraph((Run("Bold", {"bold": True}),), Block(align="center")),
        Paragraph((Run("one"),)),
        Paragraph((Run("two"),)),
        Paragraph((Run("three"),)),
        Paragraph((Run("not bold"),)),
        Paragraph((Run("item"),), Block("bullet")),
        Paragraph((Run("inner"),), Block("bullet", 1)),
        Table((((Run("a\u2028b"),), (Run("in"),)),), header=False),
        Paragraph((Run("unclosed "), Run("words", {"italic": True}))),
    )


@given(st.text(alphabet="<>/abp divulitrd=\"'&;!-[]", max_size=200))
def test_any_html_is_read(text: str) -> None:
    for part in read_html(text):
        assert not isinstance(part, Paragraph) or "\n" not in part.text


# Hostile files


def archive(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in parts.items():
            written.writestr(name.replace("__", "/").replace("_xml", ".xml"), data)
    return stream.getvalue()


def docx(body: bytes) -> bytes:
    return archive(word__document_xml=body)


W = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
ENTITIES = (
    b'<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><w:document '
    + W
    + b"><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:document>"
)
EXTERNAL = (
    b'<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document '
    + W
    + b"><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:document>"
)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.docx", b"no zip at all", "damaged, or of another kind"),
        ("a.odt", b"PK\x03\x04" + bytes(50), "damaged, or of another kind"),
        ("a.docx", archive(other_xml=b"<a/>"), "is not a DOCX file"),
        ("a.odt", archive(other_xml=b"<a/>"), "is not an ODT file"),
        ("a.docx", docx(b"<w:document "), "XML cannot be read"),
        ("a.docx", docx(b"<a><b></a>"), "XML cannot be read"),
        ("a.docx", docx(ENTITIES), "not allowed"),
        ("a.docx", docx(EXTERNAL), "not allowed"),
        ("a.odt", archive(content_xml=ENTITIES), "not allowed"),
        ("a.docx", docx(b"<a>" * 300 + b"</a>" * 300), "too deep"),
        ("a.docx", docx(b"<a>" + b" " * 30_000_000 + b"</a>"), "far too large"),
        ("a.exe", b"MZ", "cannot take in"),
        ("missing.md", None, "cannot be read"),
    ],
)
def test_hostile_files_are_refused_with_a_sentence(
    tmp_path: Path, name: str, data: bytes | None, sentence: str
) -> None:
    file = tmp_path / name
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(FileProblem, match=sentence):
        read_file(file)


def test_a_part_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    data = bytearray(docx(b"<a>" + b"x" * 100_000 + b"</a>"))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")  # the size in the directory
    file = tmp_path / "lie.docx"
    file.write_bytes(bytes(data))
    with pytest.raises(FileProblem):
        read_file(file)


def test_too_many_words_rows_and_columns_are_refused() -> None:
    with pytest.raises(FileProblem, match="columns"):
        read_html("<table><tr>" + "<td>x</td>" * 70 + "</tr></table>")
    with pytest.raises(FileProblem, match="rows"):
        read_html("<table>" + "<tr><td>x</td></tr>" * 1001 + "</table>")
    with pytest.raises(FileProblem, match="characters"):
        read_html("word " * 1_100_000)


@settings(max_examples=30)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for ending in ENDINGS:
            file = Path(folder) / f"x{ending}"
            file.write_bytes(data)
            try:
                read_file(file)
            except FileProblem:
                continue


@pytest.mark.parametrize("ending", [".odt", ".docx"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_damaged_file_is_read_or_refused(
    tmp_path: Path, ending: str, where: float, byte: int
) -> None:
    file = tmp_path / f"good{ending}"
    if not file.exists():
        write_file(file, SAMPLE, "Sample")
    data = bytearray(file.read_bytes())
    data[int(where * len(data))] = byte
    bad = tmp_path / f"bad{ending}"
    bad.write_bytes(bytes(data))
    try:
        read_file(bad)
    except FileProblem:
        return


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="cannot be written"):
        write_file(tmp_path / "missing" / "x.md", SAMPLE, "x")
    with pytest.raises(FileProblem, match="not written as"):
        write_file(tmp_path / "x.exe", SAMPLE, "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".odt", ".docx", ".md"])
def test_export_replaces_the_old_file_only_when_it_is_on_the_disk(
    tmp_path: Path, ending: str
) -> None:
    file = tmp_path / f"document{ending}"
    mask = os.umask(0o022)
    try:
        write_file(file, SAMPLE, "Sample")
        assert file.stat().st_mode & 0o777 == 0o644
        before = all_files(tmp_path)
        for call, code in FAULTS:
            with refusing(call, code), pytest.raises(FileProblem, match="cannot be written"):
                write_file(file, SAMPLE, "Another title")
            assert all_files(tmp_path) == before
    finally:
        os.umask(mask)
