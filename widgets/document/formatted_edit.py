"""A view of formatted text: what is at the caret, and commands on the selection.

Everything that formats is an intent on the replicated text and comes back into the view as a
change, like those of the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from liveobj.channels.presence import Presence
from liveobj.documents import Document, Text
from liveobj.richtext.model import CODE, INDENT_MAX, LINK, Block, Mark, Run
from liveobj.richtext.rich_text import EMBED, RichText
from widgets.document.rich_binding import RichBinding
from widgets.document.rich_look import RichLook, block_of, marks_of
from widgets.shared_text_edit import SharedTextEdit
from widgets.text_binding import TextBinding
from widgets.theme import Theme

# Words written at the end of these are not part of them.
_ENDING = (LINK, CODE, EMBED)


@dataclass(slots=True)
class Writing:
    """What an editor of formatted text needs of an object."""

    document: Document
    text: Text
    presence: Presence
    rich: RichText


class FormattedEdit(SharedTextEdit):
    """Shows one formatted text and edits it by intents. `compact` ones, as in the cells of a table,
    have no page around them.

    Attributes: `rich`, `look`. Signals: `format_changed` when the marks or the look at the caret
    may be others.
    """

    format_changed = Signal()

    def __init__(
        self,
        theme: Theme,
        writing: Writing,
        container: str,
        *,
        compact: bool = False,
        clock: Callable[[], float] = time.monotonic,
        parent: QWidget | None = None,
    ) -> None:
        self.rich = writing.rich
        self.look = RichLook(theme, compact=compact)
        self.compact = compact
        self.has_page = not compact
        super().__init__(theme, writing, container, clock, parent)
        self.cursorPositionChanged.connect(self._on_caret)
        self.history_changed.connect(self.format_changed)

    def make_binding(self) -> TextBinding:
        return RichBinding(self.document(), self.rich, self.look, self)

    # What is at the caret

    @property
    def selection(self) -> tuple[int, int]:
        """In the newest text: what the others have written is shown first."""
        self.show_newest()
        caret = self.textCursor()
        return caret.selectionStart(), caret.selectionEnd()

    @property
    def block_here(self) -> Block:
        return block_of(self.textCursor().blockFormat())

    @property
    def marks_here(self) -> dict[str, Mark]:
        """Of the selection's first character, or those that a letter typed now would get."""
        caret = self.textCursor()
        if not caret.hasSelection():
            return marks_of(self.currentCharFormat())
        return marks_of(self.format_at(caret.selectionStart() + 1))

    def format_at(self, position: int) -> QTextCharFormat:
        """Of the character before a position."""
        caret = QTextCursor(self.document())
        caret.setPosition(min(position, self.document().characterCount() - 1))
        return caret.charFormat()

    def _on_caret(self) -> None:
        """A letter typed at the end of a link is not part of it; behind an image it is no image."""
        caret = self.textCursor()
        if not caret.hasSelection():
            marks = self._typing_marks(caret)
            wanted = self.look.characters(marks, self.block_here)
            if self.currentCharFormat() != wanted:
                self.setCurrentCharFormat(wanted)
        self.format_changed.emit()

    def _typing_marks(self, caret: QTextCursor) -> dict[str, Mark]:
        if caret.atBlockStart():
            if caret.atBlockEnd():
                return {}
            after = marks_of(self.format_at(caret.position() + 1))
            return {name: mark for name, mark in after.items() if name not in _ENDING}
        marks = marks_of(caret.charFormat())
        after = {}
        if not caret.atBlockEnd():
            after = marks_of(self.format_at(caret.position() + 1))
        inside = {name for name in _ENDING if name != EMBED and after.get(name) == marks.get(name)}
        return {n: mark for n, mark in marks.items() if n not in _ENDING or n in inside}

    # Intents

    def change(self, label: str, edit: Callable[[], None], *, typed: bool = False) -> None:
        """Edits the replicated text as one step of undo, and shows it at once. What is `typed`
        does not wait for edits of others elsewhere; the positions in it are those of `in_text`.
        """
        if self.isReadOnly():
            return
        self.replicated.undo_boundary()
        with self.replicated.transaction(label):
            edit()
        self.replicated.undo_boundary()
        if typed:
            self.show_here()
        else:
            self.show_soon()
        self.history_changed.emit()

    def remove_text(self, position: int, length: int) -> None:
        self.rich.replace(position, length, [])

    def place_caret(self, position: int) -> None:
        self.select(position, position)

    def replace_words(self, start: int, end: int, words: str) -> None:
        """The new words look like the first of the old ones."""
        marks = {n: m for n, m in marks_of(self.format_at(start + 1)).items() if n != EMBED}
        self.rich.replace(start, end - start, [Run(words, marks)] if words else [])

    def toggle_mark(self, name: str, value: Mark = True) -> None:
        """Marks the selection, or what is typed next; takes the mark off where it is."""
        wanted = None if self.marks_here.get(name) == value else value
        self.set_mark(name, wanted)

    def set_mark(self, name: str, value: Mark | None) -> None:
        start, end = self.selection
        if start != end:
            self.change(name, lambda: self.rich.set_mark(start, end, name, value))
            return
        marks = {key: mark for key, mark in self.marks_here.items() if key != name}
        if value is not None:
            marks[name] = value
        self.setCurrentCharFormat(self.look.characters(marks, self.block_here))
        self.format_changed.emit()

    def clear_marks(self) -> None:
        """Plain words again."""
        start, end = self.selection
        if start != end:
            self.change("plain", lambda: _ignore(self.rich.mark_exactly(start, end, {})))

    def link_here(self) -> tuple[int, int, str]:
        """Start, end and address of the link at the caret or in the selection; the selection and
        nothing where there is none."""
        start, end = self.selection
        address = self.marks_here.get(LINK)
        if not isinstance(address, str):
            return start, end, ""
        block = self.document().findBlock(start)
        piece = block.begin()
        one, other = start, end
        while not piece.atEnd():
            fragment = piece.fragment()
            first, last = fragment.position(), fragment.position() + fragment.length()
            if (
                marks_of(fragment.charFormat()).get(LINK) == address
                and first <= end
                and last >= start
            ):
                one, other = min(one, first), max(other, last)
            piece += 1
        return one, other, address

    def set_link(self, start: int, end: int, address: str | None, words: str = "") -> None:
        """Makes a stretch a link, or no longer one; without a stretch, `words` are put in."""

        def edit() -> None:
            if start != end:
                self.rich.set_mark(start, end, LINK, address)
            elif address:
                self.rich.replace(start, 0, [Run(words or address, {LINK: address})])

        self.change("link", edit)

    def toggle_style(self, style: str) -> None:
        """Gives the paragraphs of the selection a look, or takes it off if they have it."""
        start, end = self.selection
        wanted = "" if self.block_here.style == style else style
        self.change("style", lambda: self.rich.set_blocks(start, end, style=wanted, done=False))

    def set_alignment(self, align: str) -> None:
        start, end = self.selection
        self.change("align", lambda: self.rich.set_blocks(start, end, align=align))

    def indent_by(self, steps: int) -> None:
        start, end = self.selection

        def edit() -> None:
            for at in list(self.rich.line_starts(start, end)):
                block = self.rich.block_at(at)
                indent = max(0, min(INDENT_MAX, block.indent + steps))
                self.rich.set_block_at(at, replace(block, indent=indent))

        self.change("indent", edit)

    def toggle_done(self, position: int) -> None:
        """Ticks an item of a check list, or takes the tick off."""
        start = self.in_text(self.document().findBlock(position).position())
        block = self.rich.block_at(start)
        self.change(
            "tick", lambda: self.rich.set_block_at(start, replace(block, done=not block.done))
        )

    def delete_selection(self) -> int:
        """Returns where it was."""
        start, end = self.selection
        if start != end:
            self.change("delete", lambda: self.rich.replace(start, end - start, []))
        return start

    def insert_parts(self, position: int, insert: Callable[[int], int]) -> None:
        """Lets `insert` put something in at a position; the caret goes where it ends."""
        end = position

        def edit() -> None:
            nonlocal end
            end = insert(position)

        self.change("insert", edit)
        self.place_caret(end)

    def _on_theme_changed(self) -> None:
        self.look.forget()
        binding = self._binding
        assert isinstance(binding, RichBinding), "made above"
        binding.renew_look()
        super()._on_theme_changed()


def _ignore(_value: object) -> None:
    """For an edit whose result nobody needs."""
