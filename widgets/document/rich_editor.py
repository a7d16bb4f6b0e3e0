"""The view in which one writes formatted text: keys, signs, pointer, paste and drop.

Letters go the way of every shared text; everything else is an intent of `FormattedEdit`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

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

from liveobj.documents.text import utf16_length
from liveobj.richtext.model import CODE_BLOCK, LINE_BREAK, LINK, LISTS, QUOTE, Block
from widgets.document.block_painter import BlockPainter
from widgets.document.formatted_edit import FormattedEdit, Writing
from widgets.document.rich_look import marks_of
from widgets.document.typing import address_at_end, line_sign, word_sign
from widgets.theme import Theme


class RichEditor(FormattedEdit):
    """Attributes: `shortcuts` (what keys do, by their names as in QKeySequence). `fill_mime` fills
    in what is copied, `take_mime` takes what is pasted or dropped at a position; without them it is
    plain text. Signals: `link_followed(address)`."""

    link_followed = Signal(str)

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
        self.shortcuts: dict[str, Callable[[], object]] = {}
        self.fill_mime: Callable[[QMimeData, int, int], None] | None = None
        self.take_mime: Callable[[QMimeData, int], None] | None = None
        super().__init__(theme, writing, container, compact=compact, clock=clock, parent=parent)
        self._painter = BlockPainter(theme, self)
        self.setAcceptRichText(True)
        self.setMouseTracking(True)

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
        self.change("paragraph", lambda: self.rich.split(self.in_text(at)), typed=True)
        self.place_caret(at + 1)

    def _step_out(self, block: Block) -> None:
        """One step less of a list, then of its indent, then plain text."""
        start = self.in_text(self.textCursor().block().position())
        if block.indent:
            wanted = replace(block, indent=block.indent - 1)
        else:
            wanted = replace(block, style="", done=False)
        self.change("style", lambda: self.rich.set_block_at(start, wanted), typed=True)

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
                self.change("style", lambda: self._take_line_sign(start, at, wanted), typed=True)
            else:
                self._link_before_caret()
        elif typed in "*`~" and block.style != CODE_BLOCK:
            self._take_word_sign(before, at)

    def _take_line_sign(self, start: int, at: int, block: Block) -> None:
        start, at = self.in_text(start), self.in_text(at)
        self.rich.text.delete(start, at - start)
        self.rich.set_block_at(start, block)

    def _take_word_sign(self, before: str, at: int) -> None:
        found = word_sign(before)
        if found is None:
            return
        # Characters of two units would make the two ways of counting differ.
        length = utf16_length(before[len(before) - found.signs - found.length : -found.signs])
        at = self.in_text(at)
        first = at - found.signs - length

        def edit() -> None:
            self.rich.text.delete(at - found.signs, found.signs)
            self.rich.text.delete(first - found.signs, found.signs)
            self.rich.set_mark(first - found.signs, first - found.signs + length, found.mark, True)

        self.change(found.mark, edit, typed=True)
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
        if LINK not in marks_of(self.format_at(first + 1)):
            one, other = self.in_text(first), self.in_text(last)
            self.change("link", lambda: self.rich.set_mark(one, other, LINK, address), typed=True)

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
        after = marks_of(self.format_at(caret.position() + 1)).get(LINK)
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


def _before(caret: QTextCursor) -> str:
    """The words of the paragraph before the caret; Qt counts units, not characters."""
    units = caret.block().text().encode("utf-16-le", "surrogatepass")
    return units[: 2 * caret.positionInBlock()].decode("utf-16-le", "replace")
