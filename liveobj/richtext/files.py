"""Owns documents as files: which kinds there are, reading and writing them by their ending."""

from __future__ import annotations

import contextlib
from pathlib import Path

from liveobj.richtext.archive import FILE_BYTES_MAX
from liveobj.richtext.docx_reader import read_docx
from liveobj.richtext.docx_writer import write_docx
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.html_reader import read_html
from liveobj.richtext.html_writer import write_html
from liveobj.richtext.markdown_reader import read_markdown
from liveobj.richtext.markdown_writer import write_markdown
from liveobj.richtext.model import Content, Paragraph, Run, plain_text
from liveobj.richtext.odt_reader import read_odt
from liveobj.richtext.odt_writer import write_odt
from transport.sentences import worded
from transport.whole_file import export_whole, export_with

MARKDOWN, HTML, ODT, DOCX, TEXT = (".md", ".markdown"), (".html", ".htm"), ".odt", ".docx", ".txt"
ENDINGS = (*MARKDOWN, *HTML, ODT, DOCX, TEXT)


def read_file(file: Path) -> Content:
    """Raises FileProblem."""
    ending = file.suffix.lower()
    if ending == ODT:
        return read_odt(file)
    if ending == DOCX:
        return read_docx(file)
    if ending not in ENDINGS:
        raise FileProblem(
            worded("{file} is of a kind that documents cannot take in.", file=file.name)
        )
    text = _read_text(file)
    if ending in HTML:
        return read_html(text)
    if ending in MARKDOWN:
        return read_markdown(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(Paragraph((Run(line),) if line else ()) for line in lines)


def _read_text(file: Path) -> str:
    try:
        if file.stat().st_size > FILE_BYTES_MAX:
            raise FileProblem(
                worded(
                    "{file} is larger than {most} MiB.", file=file.name, most=FILE_BYTES_MAX >> 20
                )
            )
        data = file.read_bytes()
    except OSError as problem:
        raise FileProblem(
            worded("{file} cannot be read: {reason}.", file=file.name, reason=problem.strerror)
        ) from None
    for encoding in (
        ("utf-8-sig", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",)
    ):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return data.decode("latin-1")


def write_file(file: Path, content: Content, title: str) -> None:
    """Writes all of it or nothing; raises FileProblem."""
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise FileProblem(
            worded(
                "Documents are not written as {value}.", value=ending or "files without an ending"
            )
        )
    try:
        if ending == ODT:
            export_with(file, lambda new: write_odt(new, content, title))
        elif ending == DOCX:
            export_with(file, lambda new: write_docx(new, content, title))
        else:
            export_whole(file, _text(ending, content, title).encode())
    except OSError as problem:
        raise FileProblem(
            worded("{file} cannot be written: {reason}.", file=file.name, reason=problem.strerror)
        ) from None


def _text(ending: str, content: Content, title: str) -> str:
    if ending in HTML:
        return write_html(content, title)
    if ending in MARKDOWN:
        return write_markdown(content)
    return plain_text(content).replace("\u2028", "\n") + "\n"
