"""Keeps a QTextDocument and a replicated formatted text the same, to the last mark.

Text goes both ways as in `TextBinding`. What is typed gets the marks that the view shows it with;
how paragraphs look is decided by the replicated text alone, and the view follows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from liveobj.documents.maps import MapChange
from liveobj.documents.text import TextChange, TextStep, utf16_length
from liveobj.richtext.model import Block, Mark, Run, joined, read_block, read_mark
from liveobj.richtext.rich_text import EDITED, EMBED, Line, RichText, read_line_end, read_run_marks
from widgets.backlog import in_pieces
from widgets.document.rich_look import RichLook, block_of, marks_of
from widgets.text_binding import FIRST_UNITS, TO_VIEW, GoesOn, Span, TextBinding

_BLOCK = "block:"


class RichBinding(TextBinding):
    """Binds `view` to `rich` until closed, in the look of `look`."""

    def __init__(
        self, view: QTextDocument, rich: RichText, look: RichLook, parent: QObject | None = None
    ) -> None:
        self._rich = rich
        self._look = look
        self._unsettled: list[tuple[int, int]] = []
        super().__init__(view, rich.text, parent)
        self._first = rich.first.observe(self._on_first_changed)
        # Qt is not done with an edit when it reports it; looks are put right when it is.
        view.contentsChanged.connect(self._settle)

    def close(self) -> None:
        self._first.close()
        self.view.contentsChanged.disconnect(self._settle)
        super().close()

    def renew_look(self) -> None:
        """Shows everything anew, after a change of theme."""
        with self._editing() as cursor:
            for block in blocks(self.view):
                self._set_block(cursor, block, block_of(block.blockFormat()), always=True)

    # The text's changes into the view

    def apply_step(self, cursor: QTextCursor, at: int, step: TextStep) -> int:
        if step.retain and step.marks:
            self._format(cursor, at, at + step.retain, step.marks)
            self.touch(at, at + step.retain)
        elif step.delete:
            stays, count = self._block_at(at), self.view.blockCount()
            self.replace_shown(cursor, at, step.delete, "")
            if self.view.blockCount() != count:
                self._set_block(cursor, self.view.findBlock(at), stays, always=True)
        elif step.insert:
            self._insert(cursor, at, step.insert.translate(TO_VIEW), step.marks or {})
        return at + step.retain + utf16_length(step.insert)

    def _insert(self, cursor: QTextCursor, at: int, text: str, marks: Mapping[str, Any]) -> None:
        here = read_run_marks(dict(marks))
        block = self._block_at(at)
        cursor.setPosition(at)
        for number, part in enumerate(text.split("\n")):
            if number:
                block = read_line_end(dict(marks))
                cursor.insertBlock(self._look.block(block), self._look.characters({}, block))
            if part:
                cursor.insertText(part, self._look.characters(here, block))
        units = text.encode("utf-16-le", "surrogatepass")
        self.shown.replace(at, 0, units)
        self.touch(at, at + len(units) // 2)
        if "\n" in text:
            self._set_block(cursor, self.view.findBlock(cursor.position()), block, always=True)

    def _format(
        self, cursor: QTextCursor, start: int, end: int, changes: Mapping[str, Any]
    ) -> None:
        inline = {name: value for name, value in changes.items() if name in (*EDITED, EMBED)}
        looks = {
            name.removeprefix(_BLOCK): value
            for name, value in changes.items()
            if name.startswith(_BLOCK)
        }
        for block in list(blocks(self.view, start, end)):
            if inline:
                self._mark(cursor, block, start, end, inline)
            if looks and start < block.position() <= end:
                now = asdict(block_of(block.blockFormat()))
                self._set_block(cursor, block, read_block({**now, **looks}))

    def _mark(
        self,
        cursor: QTextCursor,
        block: QTextBlock,
        start: int,
        end: int,
        changes: Mapping[str, Any],
    ) -> None:
        look = block_of(block.blockFormat())
        for at, until, marks in list(_stretches(block)):
            one, other = max(at, start), min(until, end)
            if one >= other:
                continue
            new = dict(marks)
            for name, value in changes.items():
                new.pop(name, None)
                found = value if name == EMBED else read_mark(name, value)
                if found is not None:
                    new[name] = found
            _select(cursor, one, other)
            cursor.setCharFormat(self._look.characters(new, look))

    def _on_first_changed(self, _change: MapChange) -> None:
        if not self.busy:
            # Through the same door as the text's changes, so that all of a frame is shown at once.
            self._unsettled.append((0, 0))
            self.pending.emit()

    @property
    def is_pending(self) -> bool:
        return super().is_pending or bool(self._unsettled)

    def apply_pending(self) -> Sequence[TextChange]:
        changes = super().apply_pending()
        self._settle()
        return changes

    def _work_off(self, spans: Sequence[Span | None], goes_on: GoesOn) -> list[TextChange]:
        changes = super()._work_off(spans, goes_on)
        self._settle()
        return changes

    # Local edits

    def edit_text(self, start: int, length: int, added: str, shown_at: int) -> None:
        until = shown_at + utf16_length(added)
        self._rich.replace(start, length, list(self._runs(shown_at, until)))
        self._unsettled.append((shown_at, until))

    def edit_marks(self, start: int, end: int) -> None:
        """A letter typed over the same letter with other marks is a change too."""
        if not self._rich.document.editable:
            return
        self._gather()
        if self._backlog.waits_between(start, end):  # an input method composes
            self.reconcile()
            return
        self.busy = True
        try:
            at = self._backlog.to_text(start)
            for run in self._runs(start, end):
                until = at + utf16_length(run.text)
                if run.text != "\n":
                    self._rich.mark_exactly(at, until, run.marks)
                at = until
        finally:
            self.busy = False

    def _runs(self, start: int, end: int) -> Iterator[Run]:
        """What the view shows between two positions, with its line ends."""
        for block in blocks(self.view, start, end):
            if block.position() > start:
                yield Run("\n")
            for at, until, marks in _stretches(block):
                one, other = max(at, start), min(until, end)
                if one < other:
                    units = self.shown.read(one, other - one)
                    yield Run(units.decode("utf-16-le", "replace"), marks)

    def _settle(self) -> None:
        """Puts the looks of paragraphs right where something was edited here."""
        if self.busy or not self._unsettled:
            return
        ranges, self._unsettled = self._unsettled, []
        with self._editing() as cursor:
            for start, end in ranges:
                for block in list(blocks(self.view, start, end)):
                    wanted = self._rich.block_at(self.to_text(block.position()))
                    self._set_block(cursor, block, wanted, always=True)

    # All of it

    def reconcile(self) -> None:
        """Makes the view equal to the text, wherever it is not."""
        if not self.shown.length:
            self.begin()
            return
        super().reconcile()
        with self._editing() as cursor:
            for line, block in zip(self._rich.lines(), list(blocks(self.view)), strict=True):
                self._match(cursor, line, block)
        self._unsettled.clear()

    def begin(self) -> None:
        text = self._rich.text
        end = text.length
        if end > FIRST_UNITS:
            end = self._rich.line_end(FIRST_UNITS)
        self._fill(self._rich.lines(end), text.slice(0, end))
        rest = (TextStep(insert=words, marks=marks) for words, marks in text.pieces(end))
        self.let_wait(end, list(in_pieces(rest)))

    def _fill(self, lines: Sequence[Line], text: str) -> None:
        with self._editing() as cursor:
            for number, line in enumerate(lines):
                plain = self._look.characters({}, line.block)
                if number:
                    cursor.insertBlock(self._look.block(line.block), plain)
                else:
                    cursor.setBlockFormat(self._look.block(line.block))
                    cursor.setBlockCharFormat(plain)
                for run in line.runs:
                    look = self._look.characters(run.marks, line.block)
                    cursor.insertText(run.text.translate(TO_VIEW), look)
            self.touch(0, self.view.characterCount())
        self.shown.set(text.translate(TO_VIEW).encode("utf-16-le", "surrogatepass"))

    def _match(self, cursor: QTextCursor, line: Line, block: QTextBlock) -> None:
        runs = tuple(Run(run.text.translate(TO_VIEW), run.marks) for run in line.runs)
        if runs != line_runs(block):
            at = block.position()
            for run in runs:
                until = at + utf16_length(run.text)
                _select(cursor, at, until)
                cursor.setCharFormat(self._look.characters(run.marks, line.block))
                at = until
        self._set_block(cursor, block, line.block, always=True)

    # Paragraphs

    def _block_at(self, position: int) -> Block:
        return block_of(self.view.findBlock(position).blockFormat())

    def _set_block(
        self, cursor: QTextCursor, block: QTextBlock, wanted: Block, *, always: bool = False
    ) -> None:
        """Gives a paragraph its look; its letters too, if they depend on it."""
        before = block_of(block.blockFormat())
        changed = False
        if before != wanted or always:
            cursor.setPosition(block.position())
            if block.blockFormat() != self._look.block(wanted):
                cursor.setBlockFormat(self._look.block(wanted))
                changed = True
        if before.style != wanted.style or always:
            changed |= self._set_letters(cursor, block, wanted)
        if changed and self._layout is not None:
            self._layout.touch(block)

    def _set_letters(self, cursor: QTextCursor, block: QTextBlock, wanted: Block) -> bool:
        """Makes letters look as they do in such a paragraph; False if they did already."""
        plain = self._look.characters({}, wanted)
        changed = block.charFormat() != plain
        if changed:
            cursor.setPosition(block.position())
            cursor.setBlockCharFormat(plain)
        for at, until, marks in list(_stretches(block, only_unlike=self._look, style=wanted)):
            _select(cursor, at, until)
            cursor.setCharFormat(self._look.characters(marks, wanted))
            changed = True
        return changed


def blocks(view: QTextDocument, start: int = 0, end: int | None = None) -> Iterator[QTextBlock]:
    """The paragraphs that `start` to `end` touches."""
    block = view.findBlock(start)
    while block.isValid() and (end is None or block.position() <= end):
        yield block
        block = block.next()


def line_runs(block: QTextBlock) -> tuple[Run, ...]:
    """What a paragraph of the view shows."""
    text = block.text().encode("utf-16-le", "surrogatepass")
    first = block.position()
    return joined(
        Run(text[2 * (at - first) : 2 * (until - first)].decode("utf-16-le", "replace"), marks)
        for at, until, marks in _stretches(block)
    )


def _stretches(
    block: QTextBlock, only_unlike: RichLook | None = None, style: Block | None = None
) -> Iterator[tuple[int, int, dict[str, Mark]]]:
    """Start, end and marks of each fragment of a paragraph; with `only_unlike`, of those that do
    not look as they would in that style."""
    piece = block.begin()
    while not piece.atEnd():
        fragment = piece.fragment()
        shown = fragment.charFormat()
        marks = marks_of(shown)
        if only_unlike is None or style is None or shown != only_unlike.characters(marks, style):
            yield fragment.position(), fragment.position() + fragment.length(), marks
        piece += 1


def _select(cursor: QTextCursor, start: int, end: int) -> None:
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
