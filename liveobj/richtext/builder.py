"""Owns putting content together from a stream of words and tags, within bounds.

Readers of files call it as they walk; it keeps what is open (marks, a cell of a table) and gives
plain data at the end. A file that would become too large is refused while it is read.
"""

from __future__ import annotations

import re

from liveobj.richtext.errors import FileProblem
from liveobj.richtext.model import (
    CODE_BLOCK,
    INDENT_MAX,
    LINE_BREAK,
    PLAIN,
    TABLE_COLUMNS_MAX,
    TABLE_ROWS_MAX,
    Block,
    Content,
    Embedded,
    Image,
    Mark,
    Paragraph,
    Part,
    Run,
    Table,
    joined,
    normal,
    read_mark,
)
from transport.sentences import worded

CHARACTERS_MAX = 5_000_000
PARTS_MAX = 200_000
IMAGES_MAX = 500
IMAGE_BYTES_MAX_IN_FILES = 16 * 1024 * 1024
IMAGES_BYTES_MAX = 64 * 1024 * 1024
_BLANKS = re.compile(r"[ \t\r\n\f]+")
# What would be read as the end of a line, or could not be written to any file.
_STRANGE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffc\ufdd0\ufdd1\ufffe\uffff\ud800-\udfff]")


class ContentBuilder:
    """Builds one content. `block` is the look of the paragraph that is open or comes next; with
    `trim`, blanks at the end of a paragraph are not part of it."""

    def __init__(self, *, trim: bool = False) -> None:
        self._trim = trim
        self._parts: list[Part] = []
        self._runs: list[Run] = []
        self._open = False
        self._marks: dict[str, list[Mark | None]] = {}
        self._rows: list[list[tuple[Run, ...]]] | None = None
        self._header = False
        self._characters = 0
        self._images = 0
        self._image_bytes = 0
        self.block = PLAIN

    # Words

    def text(self, text: str) -> None:
        """Words as they are; a line end in them is a new line of the same paragraph."""
        text = _STRANGE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        if not text:
            return
        self._characters += len(text)
        if self._characters > CHARACTERS_MAX:
            raise FileProblem(
                worded("There are more than {most} characters in it.", most=f"{CHARACTERS_MAX:,}")
            )
        self._open = True
        open_marks = ((name, values[-1]) for name, values in self._marks.items() if values)
        marks = {name: value for name, value in open_marks if value is not None}
        text = text.replace("\n", LINE_BREAK).replace("\u2029", LINE_BREAK)
        self._runs.append(Run(text, marks))

    def flowing(self, text: str) -> None:
        """Words as in HTML: any number of blanks and line ends is one blank, none at the start."""
        text = _BLANKS.sub(" ", text)
        if text.startswith(" ") and (not self._runs or self._runs[-1].text[-1] in f" {LINE_BREAK}"):
            text = text[1:]
        self.text(text)

    def line_break(self) -> None:
        self.text("\n")

    def begin_mark(self, name: str, value: Mark = True) -> None:
        """Words from now on have a mark; one that is not known here is held but not used."""
        self._marks.setdefault(name, []).append(read_mark(name, value))

    def end_mark(self, name: str) -> None:
        """The mark that was begun last ends; nothing if none was."""
        if self._marks.get(name):
            self._marks[name].pop()

    # Paragraphs

    @property
    def in_table(self) -> bool:
        return self._rows is not None

    @property
    def is_open(self) -> bool:
        """Whether anything is in the paragraph that is being written."""
        return self._open

    def begin_paragraph(self, block: Block = PLAIN) -> None:
        """Ends what is open and begins another; an empty one stays if it is ended by hand."""
        self.end_paragraph()
        self.block = block
        self._open = True

    def end_paragraph(self) -> None:
        if self._rows is not None:
            # Cells hold one paragraph: another one is a new line in it.
            if self._runs and not self._runs[-1].text.endswith(LINE_BREAK):
                self._runs.append(Run(LINE_BREAK))
            return
        if self._open:
            self._add(Paragraph(self._finished_runs(self.block), self.block))
        self._runs, self._open = [], False

    def _add(self, part: Part) -> None:
        if len(self._parts) >= PARTS_MAX:
            raise FileProblem(
                worded("There are more than {most} paragraphs in it.", most=f"{PARTS_MAX:,}")
            )
        self._parts.append(part)

    # What is not words

    def image(self, data: bytes, width: int = 0, words: str = "") -> None:
        """An image, in a paragraph of its own."""
        self._images += 1
        self._image_bytes += len(data)
        if self._images > IMAGES_MAX or self._image_bytes > IMAGES_BYTES_MAX:
            raise FileProblem(worded("There are too many or too large images in it."))
        if self._rows is not None or len(data) > IMAGE_BYTES_MAX_IN_FILES:
            self.text(words)
            return
        self._part(Image(data, max(0, min(width, 4000)), words[:1000]))

    def embedded(self, reference: bytes, title: str) -> None:
        self._part(Embedded(reference, title))

    def _part(self, part: Part) -> None:
        block = self.block
        if self._runs:
            self.end_paragraph()
        self._open = False
        self._add(part)
        self.block = block

    def add_table(self, table: Table) -> None:
        """A table that is complete."""
        self.end_paragraph()
        self._add(table)

    def begin_table(self, *, header: bool = False) -> bool:
        """False for a table inside a table, whose words go into the cell."""
        if self._rows is not None:
            return False
        self.end_paragraph()
        self._rows, self._header = [], header
        return True

    def header_row(self) -> None:
        """The first row of the table that is open names the columns."""
        self._header = True

    def begin_row(self) -> None:
        if self._rows is not None:
            self._rows.append([])
            if len(self._rows) > TABLE_ROWS_MAX:
                raise FileProblem(
                    worded("A table has more than {most} rows.", most=f"{TABLE_ROWS_MAX:,}")
                )

    def end_cell(self) -> None:
        """What was written since the last one is a cell."""
        if self._rows:
            if len(self._rows[-1]) >= TABLE_COLUMNS_MAX:
                raise FileProblem(
                    worded("A table has more than {most} columns.", most=TABLE_COLUMNS_MAX)
                )
            self._rows[-1].append(self._finished_runs(PLAIN))
        self._runs, self._open = [], False

    def end_table(self) -> None:
        rows, self._rows = self._rows, None
        self._runs, self._open = [], False
        if rows and any(rows):
            self._add(Table(tuple(tuple(row) for row in rows), self._header))

    def _finished_runs(self, block: Block) -> tuple[Run, ...]:
        """Without the line break of `<p><br></p>`, and what else only separated paragraphs."""
        runs = list(joined(self._runs))
        blanks = f" {LINE_BREAK}" if self._trim else LINE_BREAK if self.in_table else ""
        while runs and blanks and block.style != CODE_BLOCK:
            text = runs[-1].text.rstrip(blanks)
            if text == runs[-1].text:
                break
            runs[-1:] = [Run(text, runs[-1].marks)] if text else []
        return tuple(runs)

    def finish(self) -> Content:
        if self._rows is not None:
            self.end_cell()
            self.end_table()
        self.end_paragraph()
        return normal(self._parts)


def bounded_indent(depth: int) -> int:
    return max(0, min(INDENT_MAX, depth))
