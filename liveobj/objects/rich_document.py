"""Owns the rich document: a shared formatted text with tables, images and objects in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from liveobj.documents import Document, Text
from liveobj.host import Host
from liveobj.objects.comments import Comments
from liveobj.objects.shared_document import (
    Description,
    SharedDocument,
    describe_shared,
    new_shared,
)
from liveobj.objects.writers import Writers
from liveobj.references import Parameterized, Reference
from liveobj.richtext.embeds import Embeds
from liveobj.richtext.model import (
    Block,
    Content,
    Paragraph,
    Part,
    Run,
    normal,
)
from liveobj.richtext.rich_text import EMBED, OBJECT, RichText

TEMPLATE_ID = "live-objects:rich-document"
TEXT_NAME = "text"
_FIRST = "first"


def new_document(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of a document that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


def describe_document(reference: Reference) -> Description:
    """What a document's reference says; raises ReferenceProblem if it is not one."""
    return describe_shared(reference, TEMPLATE_ID, "document")


class RichBody:
    """What is written in a document, as it is now or as it was. Attributes: `rich`, `embeds`."""

    def __init__(self, document: Document, random_bytes: Callable[[int], bytes]) -> None:
        self.document = document
        self.text: Text = document.text(TEXT_NAME)
        self.rich = RichText(document, self.text, document.map(_FIRST))
        self.embeds = Embeds(document, random_bytes)

    def content(self, start: int = 0, end: int | None = None) -> Content:
        """All of it, or what lies between two positions, as plain data."""
        parts: list[Part] = []
        for line in self.rich.lines():
            runs = line.runs if end is None else _cut(line.start, line.runs, start, end)
            if runs is not None:
                parts += self._parts(line.block, runs)
        return normal(parts)

    def _parts(self, block: Block, runs: Iterable[Run]) -> list[Part]:
        """A paragraph in which something is embedded becomes several parts."""
        parts: list[Part] = []
        words: list[Run] = []
        for run in runs:
            name = run.marks.get(EMBED)
            if not isinstance(name, str):
                words.append(run)
                continue
            if words:
                parts.append(Paragraph(tuple(words), block))
                words = []
            found = self.embeds.read(name)
            if found is not None:
                parts.append(found)
        if words or not parts:
            parts.append(Paragraph(tuple(words), block))
        return parts

    def insert(self, position: int, content: Iterable[Part]) -> int:
        """Puts content in, as one edit; returns where it ends. What is embedded gets a paragraph of
        its own."""
        with self.document.transaction("insert"):
            lines = [self._line(part) for part in content]
            if lines and _is_embed(lines[0]):
                position = self._empty_line(position)
            end = self.rich.insert_lines(position, lines)
            if lines and _is_embed(lines[-1]):
                # There is always a line behind it, to go on writing.
                if end == self.text.length or self.rich.line_end(end) != end:
                    self.rich.split(end)
                end += 1
        return end

    def _empty_line(self, position: int) -> int:
        """Makes room for a paragraph of its own; returns where it begins."""
        if self.rich.line_start(position) != position:
            self.rich.split(position)
            position += 1
        if self.rich.line_end(position) != position:
            self.rich.split(position)
        return position

    def _line(self, part: Part) -> tuple[Block, tuple[Run, ...]]:
        if isinstance(part, Paragraph):
            return part.block, part.runs
        return Block(), (Run(OBJECT, {EMBED: self.embeds.add(part)}),)


class RichDocument(SharedDocument):
    """A document that is open here. Made by `open_document`."""

    body: RichBody
    text: Text
    comments: Comments
    writers: Writers

    def prepare(self) -> None:
        host = self._host
        self.body = RichBody(self.document, host.random_bytes)
        self.text = self.body.text
        self.comments = Comments(
            self.document, self.text, host.person.name, host.random_bytes, host.wall_time
        )
        self.writers = Writers(self.document, host.person.name)

    def on_new_identity(self) -> None:
        self.writers.on_new_identity()


def open_document(reference: Reference, host: Host) -> RichDocument:
    """Opens a document: what is on disk is there at once, what others have comes as they are found.

    Raises ReferenceProblem for a reference that is not a document's, StorageError if the disk
    refuses.
    """
    return RichDocument(reference, host, describe_document(reference))


def _is_embed(line: tuple[Block, tuple[Run, ...]]) -> bool:
    return any(EMBED in run.marks for run in line[1])


def _cut(at: int, runs: Iterable[Run], start: int, end: int) -> list[Run] | None:
    """The runs of a paragraph that lie between two positions; None if all of it is outside."""
    cut: list[Run] = []
    begins = at
    for run in runs:
        units = run.text.encode("utf-16-le")
        length = len(units) // 2
        inside = units[2 * max(0, start - at) : 2 * max(0, end - at)]
        if inside:
            cut.append(Run(inside.decode("utf-16-le", "ignore"), run.marks))
        at += length
    return cut if begins <= end and at >= start else None
