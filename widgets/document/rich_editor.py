"""The view in which one writes formatted text: keys, commands on the selection, paste and drop.

Letters go the way of every shared text. Everything that formats is an intent on the replicated text
and comes back into the view as a change, like those of the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import (
    QDropEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QWidget

from liveobj.channels.presence import Presence
from liveobj.documents import Document, Text
from liveobj.documents.text import utf16_length
from liveobj.richtext.model import (
    CODE,
    CODE_BLOCK,
    INDENT_MAX,
    LINE_BREAK,
    LINK,
    LISTS,
    QUOTE,
    Block,
    Mark,
    Run,
)
from liveobj.richtext.rich_text import EMBED, RichText
from widgets.document.block_painter import BlockPainter
from widgets.document.rich_binding import RichBinding
from widgets.document.rich_look import RichLook, block_of, marks_of
from widgets.document.typing import address_at_end, line_sign, word_sign
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


class RichEditor(SharedTextEdit):
    """Edits one formatted text. `compact` ones, as in the cells of a table, have no page around
    them.

    Attributes: `rich`, `look`, `shortcuts` (what keys do, by their names as in QKeySequence).
    `fill_mime` fills in what is copied, `take_mime` takes what is pasted or dropped at a position;
    without them it is plain text. Signals: `link_followed(address)`; `format_changed` when the
    marks or the look at the caret may be others.
    """

    link_followed = Signal(str)
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
        self.shortcuts: dict[str, Callable[[], object]] = {}
        self.fill_mime: Callable[[QMimeData, int, int], None] | None = None
        self.take_mime: Callable[[QMimeData, int], None] | None = None
        super().__init__(theme, writing, container, clock, parent)
        self._painter = BlockPainter(theme, self)
        self.setAcceptRichText(True)
        self.setMouseTracking(True)
        self.cursorPositionChanged.connect(self._on_caret)
        self.history_changed.connect(self.format_changed)

    def make_binding(self) -> TextBinding:
        return RichBinding(self.document(), self.rich, self.look, self)

    # What is at the caret

    @property
    def selection(self) -> tuple[int, int]:
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
        return marks_of(self._format_at(caret.selectionStart() + 1))

    def _format_at(self, position: int):  # type: ignore[no-untyped-def]
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
            after = marks_of(self._format_at(caret.position() + 1))
            return {name: mark for name, mark in after.items() if name not in _ENDING}
        marks = marks_of(caret.charFormat())
        after = {}
        if not caret.atBlockEnd():
            after = marks_of(self._format_at(caret.position() + 1))
        inside = {name for name in _ENDING if name != EMBED and after.get(name) == marks.get(name)}
        return {n: mark for n, mark in marks.items() if n not in _ENDING or n in inside}

    # Intents

    def change(self, label: str, edit: Callable[[], None]) -> None:
        """Edits the replicated text as one step of undo, and shows it at once."""
        if self.isReadOnly():
            return
        self.show_newest()
        self.replicated.undo_boundary()
        with self.replicated.transaction(label):
            edit()
        self.replicated.undo_boundary()
        self.show_newest()
        self.history_changed.emit()

    def place_caret(self, position: int) -> None:
        self.select(position, position)

    def replace_words(self, start: int, end: int, words: str) -> None:
        """The new words look like the first of the old ones."""
        marks = {n: m for n, m in marks_of(self._format_at(start + 1)).items() if n != EMBED}
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
        start = self.document().findBlock(position).position()
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

    # Keys

    def _run_shortcut(self, event: QKeyEvent) -> bool:
        run = self.shortcuts.get(QKeySequence(event.keyCombination()).toString())
        if run is None:
            return False
        run()
        return True

    def _enter(self) -> None:
        block = self.block_here
        caret = self.textCursor()
        empty = not caret.hasSelection() and not caret.block().text()
        if empty and (block.style in (*LISTS, CODE_BLOCK, QUOTE) or block.indent):
            self._step_out(block)
            return
        if caret.hasSelection():
            self.place_caret(self.delete_selection())
        at = self.textCursor().position()
        self._link_before_caret()
        self.change("paragraph", lambda: self.rich.split(at))
        self.place_caret(at + 1)

    def _step_out(self, block: Block) -> None:
        """One step less of a list, then of its indent, then plain text."""
        start = self.textCursor().block().position()
        if block.indent:
            wanted = replace(block, indent=block.indent - 1)
        else:
            wanted = replace(block, style="", done=False)
        self.change("style", lambda: self.rich.set_block_at(start, wanted))

    def _backspace(self) -> bool:
        caret, block = self.textCursor(), self.block_here
        if (
            caret.hasSelection()
            or not caret.atBlockStart()
            or (block.style, block.indent) == ("", 0)
        ):
            return False
        self._step_out(block)
        return True

    def _tab(self, steps: int) -> bool:
        if self.block_here.style not in LISTS and steps > 0:
            return False
        self.indent_by(steps)
        return True

    def _after_typing(self, typed: str) -> None:
        """Signs that were just completed."""
        if self.isReadOnly() or self.textCursor().hasSelection() or self.compact:
            return
        caret = self.textCursor()
        start, at = caret.block().position(), caret.position()
        before = _before(caret)
        block = self.block_here
        if typed == " ":
            look = line_sign(before[:-1]) if block.style in ("", *LISTS) else None
            if look is not None and look.style != block.style:
                wanted = replace(look, indent=block.indent, align=block.align)
                self.change("style", lambda: self._take_line_sign(start, at, wanted))
            else:
                self._link_before_caret()
        elif typed in "*`~" and block.style != CODE_BLOCK:
            self._take_word_sign(before, at)

    def _take_line_sign(self, start: int, at: int, block: Block) -> None:
        self.rich.text.delete(start, at - start)
        self.rich.set_block_at(start, block)

    def _take_word_sign(self, before: str, at: int) -> None:
        found = word_sign(before)
        if found is None:
            return
        # Characters of two units would make the two ways of counting differ.
        length = utf16_length(before[len(before) - found.signs - found.length : -found.signs])
        first = at - found.signs - length

        def edit() -> None:
            self.rich.text.delete(at - found.signs, found.signs)
            self.rich.text.delete(first - found.signs, found.signs)
            self.rich.set_mark(first - found.signs, first - found.signs + length, found.mark, True)

        self.change(found.mark, edit)
        marks = {n: mark for n, mark in self.marks_here.items() if n != found.mark}
        self.setCurrentCharFormat(self.look.characters(marks, self.block_here))

    def _link_before_caret(self) -> None:
        caret = self.textCursor()
        before = _before(caret)
        found = address_at_end(before.removesuffix(" "))
        if found is None or self.block_here.style == CODE_BLOCK:
            return
        start, end, address = found
        first = caret.block().position() + utf16_length(before[:start])
        last = first + utf16_length(before[start:end])
        if LINK not in marks_of(self._format_at(first + 1)):
            self.change("link", lambda: self.rich.set_mark(first, last, LINK, address))

    # Copy, paste, drop

    def offer(self, data: QMimeData, position: int) -> None:
        """What is pasted or dropped."""
        if self.take_mime is not None:
            self.take_mime(data, position)
        elif data.text():
            self.place_caret(position)
            self.textCursor().insertText(data.text(), self.currentCharFormat())

    # Qt

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            name = QKeySequence(event.keyCombination()).toString()
            if name in self.shortcuts:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._run_shortcut(event):
            return
        key, editable = event.key(), not self.isReadOnly()
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if editable and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if shift or self.compact:
                self.textCursor().insertText(LINE_BREAK, self.currentCharFormat())
            else:
                self._enter()
        elif editable and key == Qt.Key.Key_Backspace and self._backspace():
            pass
        elif editable and key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            back = key == Qt.Key.Key_Backtab or shift
            if not self._tab(-1 if back else 1):
                super().keyPressEvent(event)
        else:
            super().keyPressEvent(event)
            if editable and event.text() and event.text() in " *`~":
                self._after_typing(event.text())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        item = self._painter.box_at(event.position().toPoint())
        if item is not None and not self.isReadOnly():
            self.toggle_done(item)
            return
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        address = self.anchor_at(event) if control or self.isReadOnly() else None
        if address:
            self.link_followed.emit(address)
            return
        super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        shape = Qt.CursorShape.IBeamCursor
        if self._painter.box_at(event.position().toPoint()) is not None or (
            event.modifiers() & Qt.KeyboardModifier.ControlModifier and self.anchor_at(event)
        ):
            shape = Qt.CursorShape.PointingHandCursor
        if self.viewport().cursor().shape() != shape:
            self.viewport().setCursor(shape)

    def anchor_at(self, event: QMouseEvent) -> str | None:
        """The address of the link under the pointer."""
        caret = self.cursorForPosition(event.position().toPoint())
        found = marks_of(caret.charFormat()).get(LINK)
        after = marks_of(self._format_at(caret.position() + 1)).get(LINK)
        address = found or after
        return address if isinstance(address, str) else None

    def createMimeDataFromSelection(self) -> QMimeData:
        mime = super().createMimeDataFromSelection()
        if self.fill_mime is not None:
            # Qt's own object is filled, as the clipboard lives longer than what Python makes. It
            # puts its forms in when it is first asked for one; ours replace them.
            mime.html()
            self.fill_mime(mime, *self.selection)
        return mime

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText() or source.hasHtml() or source.hasImage() or source.hasUrls()

    def insertFromMimeData(self, source: QMimeData) -> None:
        self.show_newest()
        if not self.isReadOnly():
            self.offer(source, self.delete_selection())

    def dropEvent(self, event: QDropEvent) -> None:
        # Qt would take away what is moved before the drop is handled, and report both as one.
        self.show_newest()
        at = self.cursorForPosition(event.position().toPoint()).position()
        if event.source() is self and event.dropAction() is Qt.DropAction.MoveAction:
            start, end = self.selection
            if start <= at <= end:
                event.ignore()
                return
            data = self.createMimeDataFromSelection()
            self.delete_selection()
            self.offer(data, at - (end - start) if at > end else at)
        else:
            self.offer(event.mimeData(), at)
        event.acceptProposedAction()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        self._painter.paint_behind(painter, event.rect())
        painter.end()
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        self._painter.paint(painter, event.rect())
        painter.end()

    def _on_theme_changed(self) -> None:
        self.look.forget()
        binding = self._binding
        assert isinstance(binding, RichBinding), "made above"
        binding.renew_look()
        super()._on_theme_changed()


def _before(caret: QTextCursor) -> str:
    """The words of the paragraph before the caret; Qt counts units, not characters."""
    units = caret.block().text().encode("utf-16-le", "surrogatepass")
    return units[: 2 * caret.positionInBlock()].decode("utf-16-le", "replace")


def _ignore(_value: object) -> None:
    """For an edit whose result nobody needs."""
