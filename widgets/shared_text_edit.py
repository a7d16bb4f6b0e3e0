"""What every view has in which one writes in a shared text, with the carets of the others in it.

Every key press goes to the replicated text as an intent; remote edits come in one block per frame
and leave one's own caret, selection and scroll position where they are. Undo is the text's, of
one's own edits only; Qt's undo stack is off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from PySide6.QtCore import QEvent, QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import (
    QDropEvent,
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QTextEdit, QWidget

from liveobj.channels.presence import Presence
from liveobj.documents.document import Document
from liveobj.documents.text import Text, TextChange
from widgets import fonts
from widgets.inner_text import InnerText
from widgets.lazy_layout import LazyLayout
from widgets.long_edits import LongEdits
from widgets.pasting import LONG_CHARACTERS, plain_lines
from widgets.remote_carets import RemoteCaret, RemoteCarets
from widgets.sight import Sight
from widgets.text_binding import TextBinding
from widgets.text_layers import TextLayers
from widgets.text_places import moved_selection, onto_line, paragraphs_around
from widgets.theme import Theme
from widgets.throttle import QtAlarm, Throttle
from widgets.told_carets import ToldCarets

PAGE_WIDTH_PX = 720
PAGE_MARGIN_PX = 32
_SMALL_PX = 200
# How long the edits of others may take in one frame; what is left is shown in the next.
_EDITS_S = 0.008
_MORE_LAYOUT_S = 0.05

# Before these reach the editor, what the others have written must be in the view: positions in the
# event are positions in the newest text.
_INPUT_EVENTS = frozenset(
    {
        QEvent.Type.KeyPress,
        QEvent.Type.ShortcutOverride,
        QEvent.Type.ContextMenu,
        QEvent.Type.DragEnter,
        QEvent.Type.Drop,
    }
)


_NEAR_KEYS = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down})
# These change no text and read none.
_INERT_KEYS = frozenset(
    {
        *(Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr, Qt.Key.Key_Meta),
        Qt.Key.Key_Escape,
    }
)


class SharedText(Protocol):
    """What an editor needs of an object; `liveobj.objects.text_note.TextNote` is one."""

    document: Document
    text: Text
    presence: Presence


class SharedTextEdit(QTextEdit):
    """Shows and edits a shared text; `container` is the name under which carets in it are told. A
    subclass gives it a look, and may bind it to the text in its own way.

    Attributes: `text`, `container`, `replicated`, `theme`, `layers`, `tells_caret` (whether the
    others are shown where the caret is), `has_page` (whether it may be long, and has a margin),
    `pages` (the layout of a long text), `long_edits`. Signals: `history_changed` when undo or redo
    may have become possible, or not possible any more; `composing_changed(bool)`: an input method
    shows letters that are not in the text yet.
    """

    history_changed = Signal()
    composing_changed = Signal(bool)
    has_page = True

    def __init__(
        self,
        theme: Theme,
        shared: SharedText,
        container: str,
        clock: Callable[[], float] = time.monotonic,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.text = shared.text
        self.theme = theme
        self.layers = TextLayers(self)
        self.container = container
        self.tells_caret = True
        self._told = ToldCarets(shared.text, shared.presence, container)
        self.replicated = shared.document
        self._presence = shared.presence
        self._composing = False
        self._hint = ""
        self._carets = RemoteCarets(theme, self, self.layers, clock)
        self._quiet_timer = QTimer(self)
        self._quiet_timer.setSingleShot(True)
        self._quiet_timer.timeout.connect(self._on_quiet)
        self._clock = clock
        self._frame = Throttle(self._update, QtAlarm(self), clock=clock)
        # Carets have frames of their own: no letter waits because a caret was shown just now.
        self._caret_frame = Throttle(self._update_carets, QtAlarm(self), clock=clock)
        self.pages = LazyLayout(self.document()) if self.has_page else None
        self._sight = Sight(self, self.pages)
        self._more_layout = Throttle(self._lay_out_more, QtAlarm(self), _MORE_LAYOUT_S, clock)
        self.long_edits = LongEdits(self, clock)
        self._look()
        self.give_look()
        self._binding = self.make_binding()
        self.moveCursor(QTextCursor.MoveOperation.Start)  # one begins to read at the beginning
        self._binding.pending.connect(self._frame.request)
        self._binding.edited.connect(self._on_edited)
        self.cursorPositionChanged.connect(self._caret_frame.request)
        theme.changed.connect(self._on_theme_changed)
        self._subscription = shared.presence.observe(self._on_people)
        self._frame.request()

    def give_look(self) -> None:
        """For subclasses: what is shown where there is no text, and how text looks."""

    def make_binding(self) -> TextBinding:
        """For subclasses: joins the text of this widget to the replicated one."""
        return TextBinding(self.document(), self.text, self)

    def close_view(self) -> None:
        """Lets go of text and presence; the widget can then be deleted."""
        self.long_edits.finish()
        self._frame.close()
        self._caret_frame.close()
        self._more_layout.close()
        self._quiet_timer.stop()
        self._binding.close()
        self.theme.changed.disconnect(self._on_theme_changed)
        self._subscription.close()
        self._presence.set_caret(None)
        if self.pages is not None:
            # Qt still asks for places while a window is taken down, when Python's part of this one
            # is gone already.
            self.pages, self._sight = None, Sight(self, None)
            self.document().setDocumentLayout(None)  # type: ignore[arg-type]

    # Intents

    @property
    def can_undo(self) -> bool:
        return self.replicated.can_undo

    @property
    def can_redo(self) -> bool:
        return self.replicated.can_redo

    def undo_edit(self) -> None:
        """Takes back one's own last edit; the others' stay."""
        self.long_edits.stop()
        self._step_history(self.replicated.undo)

    def redo_edit(self) -> None:
        """Does again what was taken back."""
        self._step_history(self.replicated.redo)

    def replace_words(self, start: int, end: int, words: str) -> None:
        """Puts words in the place of others, inside a transaction of whoever asks."""
        self.text.replace(start, end - start, words)

    def remove_text(self, position: int, length: int) -> None:
        """Removes a part of the replicated text."""
        self.text.delete(position, length)

    def texts_inside(self) -> Sequence[InnerText]:
        """For subclasses: further texts that are shown in this one, such as cells of tables."""
        return ()

    def select(self, start: int, end: int) -> None:
        """Selects a stretch of the text and brings it into sight."""
        last = self.document().characterCount() - 1
        caret = self.textCursor()
        caret.setPosition(min(start, last))
        caret.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(caret)
        self.ensureCursorVisible()

    def _step_history(self, step: Callable[[], bool]) -> None:
        self.show_soon()
        step()
        self.show_soon()
        self.history_changed.emit()

    # Changes

    @property
    def remote_carets(self) -> tuple[RemoteCaret, ...]:
        return self._carets.carets

    def show_person(self, node: int) -> None:
        """Scrolls to where somebody's caret is; one's own stays where it is."""
        for caret in self.remote_carets:
            if caret.node == node:
                cursor = QTextCursor(self.document())
                cursor.setPosition(min(caret.position, self.document().characterCount() - 1))
                middle = self.viewport().height() // 2
                bar = self.verticalScrollBar()
                place = self.cursorRect(cursor)
                if not self.viewport().rect().contains(place.center()):
                    bar.setValue(bar.value() + place.center().y() - middle)

    def show_newest(self) -> None:
        """Shows at once what would be shown in the next frames."""
        self._frame.request()
        self._frame.flush()
        if self._binding.is_pending and not self._composing:
            self.update_text(self._binding.apply_pending)
            self._update_carets()

    def show_soon(self) -> None:
        """Shows at once what would be shown in the next frames, unless that takes long."""
        if self._binding.is_far_behind:
            self._frame.request()
        else:
            self.show_newest()

    def show_here(self) -> None:
        """Shows at once what concerns the paragraphs at the caret; all else comes in its frame."""
        if self._binding.is_pending:
            self.show_between(*paragraphs_around(self.textCursor()))

    def show_between(self, start: int, end: int) -> None:
        """Shows at once what concerns a part of the view."""
        if self._binding.is_pending and not self._composing:
            self.update_text(lambda: self._binding.apply_between(start, end))

    def apply_between(self, start: int, end: int) -> Sequence[TextChange]:
        """For use inside `update_text`: takes over what concerns a part of the view."""
        return () if self._composing else self._binding.apply_between(start, end)

    @property
    def is_filling(self) -> bool:
        """Whether a long text is being shown for the first time, a part in each frame."""
        return self._binding.filling

    def in_text(self, position: int) -> int:
        """Where in the replicated text a place of this view is: it may be ahead of the view."""
        return self._binding.to_text(position)

    def in_view(self, position: int) -> int:
        """Where in this view a place of the replicated text is."""
        return self._binding.to_view(position)

    def places_of(self, character: str) -> list[int]:
        """Where in this view a character of one unit stands; a long text is searched quickly."""
        return self._binding.shown.find_all(character.encode("utf-16-le"))

    def _on_edited(self) -> None:
        self.long_edits.on_edited()
        self._caret_frame.request()
        self._more_layout.request()
        self.history_changed.emit()

    def _on_people(self, _presence: Presence) -> None:
        self._caret_frame.request()

    def _on_quiet(self) -> None:
        self.viewport().update()
        self._watch_quiet()

    def _on_theme_changed(self) -> None:
        carets = self._carets.carets
        self._carets.show(())
        self._carets.show(carets)
        self.viewport().update()

    def _update(self) -> None:
        """Once per frame: the others' edits, those that can be seen first, then all carets."""
        if not self._composing and self._binding.is_pending:
            end_s = self._clock() + _EDITS_S
            spans = [paragraphs_around(self.textCursor()), self._sight.span()]
            self.update_text(lambda: self._binding.apply_some(lambda: self._clock() < end_s, spans))
            if self._binding.is_pending:
                self._frame.request()
        self._update_carets()
        self._more_layout.request()

    def _update_carets(self) -> None:
        if self.tells_caret:
            writes = self.window().focusWidget() is self
            self._told.tell(self.textCursor() if writes else None, self.in_text)
        if self._carets.show(self._told.others(self._binding.to_view)):
            self.viewport().update()
            self._watch_quiet()

    def update_text(self, apply: Callable[[], Sequence[TextChange]]) -> None:
        """Applies changes so that one's own caret and what one sees stay where they are."""
        caret = self.textCursor()
        anchor, position = caret.anchor(), caret.position()
        mark = self._sight.mark()
        changes = apply()
        anchor, position = moved_selection(anchor, position, changes)
        caret = self.textCursor()
        if (caret.anchor(), caret.position()) != (anchor, position):
            caret.setPosition(anchor)
            caret.setPosition(position, QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(caret)
        if any(change.origin.mine for change in changes):
            self.ensureCursorVisible()
        else:
            self._sight.keep(mark)

    def _lay_out_more(self) -> None:
        """What is not seen, while nothing else is to be done, so that it is there when it is."""
        end_s = self._clock() + _EDITS_S
        busy = self.long_edits.is_pasting
        if busy or (
            not self._binding.is_pending and self._sight.lay_out_more(lambda: self._clock() < end_s)
        ):
            self._more_layout.request()

    def _watch_quiet(self) -> None:
        seconds = self._carets.quiet_in_s()
        if seconds is not None:
            self._quiet_timer.start(int(seconds * 1000) + 1)

    # Look

    def set_hint(self, words: str) -> None:
        """What is shown where there is no text. Qt's own placeholder stands in the page's margin,
        where the names of the others are."""
        self._hint = words

    def _look(self) -> None:
        self.setAcceptRichText(False)
        self.setReadOnly(not self.replicated.editable)
        self.setFrameShape(QTextEdit.Shape.NoFrame)
        self.setFont(fonts.font(fonts.Size.READING))
        self.setCursorWidth(2)
        self.setTabChangesFocus(False)
        if self.pages is not None:
            self.document().setDocumentLayout(self.pages)

    # Qt

    def event(self, event: QEvent) -> bool:
        if event.type() in _INPUT_EVENTS and not self._composing:
            if isinstance(event, QKeyEvent) and event.key() in _INERT_KEYS:
                pass
            elif self._binding.is_far_behind or _is_typing(event):
                self.show_here()
            else:
                self.show_newest()
            if isinstance(event, QKeyEvent) and event.key() not in _INERT_KEYS:
                self.long_edits.settle_caret()
        if event.type() is QEvent.Type.ShortcutOverride and _is_for_window(event):
            event.ignore()
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._caret_frame.request()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._caret_frame.request()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.long_edits.is_pasting:
            self.long_edits.cancel()
            return
        if _removes(event) and self.long_edits.remove_selection() and not _writes(event):
            return
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_edit()
        elif event.matches(QKeySequence.StandardKey.Redo) or _is_other_redo(event):
            self.redo_edit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # Shift+Enter would be a line separator of Qt's own; here every line end is the same.
            if not self.isReadOnly():
                self.textCursor().insertBlock()
                self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.long_edits.release_caret()
        super().mousePressEvent(onto_line(self, event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(onto_line(self, event))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(onto_line(self, event))

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self.long_edits.settle_caret()
        super().inputMethodEvent(event)
        composing = bool(event.preeditString())
        if composing != self._composing:
            self._composing = composing
            self.composing_changed.emit(composing)
        if not self._composing:
            self._frame.request()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        # A reference file that is dropped is to be opened by the window, not written as a path.
        references = any(url.path().endswith(".liveobject") for url in source.urls())
        return source.hasText() and not references

    def insertFromMimeData(self, source: QMimeData) -> None:
        words = source.text()
        if len(words) > LONG_CHARACTERS and not self.isReadOnly():
            self.long_edits.paste(plain_lines(words))
        else:
            self.show_soon()
            super().insertFromMimeData(source)

    def dropEvent(self, event: QDropEvent) -> None:
        words = event.mimeData().text()
        if len(words) <= LONG_CHARACTERS or self.isReadOnly():
            super().dropEvent(event)
            return
        at = self.cursorForPosition(event.position().toPoint()).position()
        caret = self.textCursor()
        start, end = caret.selectionStart(), caret.selectionEnd()
        moves = event.source() in (self, self.viewport())
        moves = moves and event.dropAction() is Qt.DropAction.MoveAction
        if moves and start <= at <= end:
            event.ignore()
            return
        self.long_edits.paste(plain_lines(words), at)
        if moves:
            first, last = self.in_text(start), self.in_text(end)
            self.remove_text(first, last - first)
            self.show_soon()
        event.acceptProposedAction()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            self._sight.lay_out()  # before anybody paints
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        if self.document().isEmpty() and not self._composing:
            self._paint_hint(painter)
        self._carets.paint(painter)
        painter.end()

    def _paint_hint(self, painter: QPainter) -> None:
        place = self.cursorRect()
        rest = self.viewport().rect().adjusted(place.left(), place.top(), -PAGE_MARGIN_PX, 0)
        painter.setPen(self.theme.colour("muted"))
        painter.setFont(self.font())
        painter.drawText(rest, Qt.TextFlag.TextWordWrap, self._hint)

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self.pages is not None:
            side = max(PAGE_MARGIN_PX, (self.width() - PAGE_WIDTH_PX) // 2)
            # One writes in the middle of a page and not at its lower edge; a small one has no room.
            below = PAGE_MARGIN_PX * min(4, max(0, self.height() - _SMALL_PX) // _SMALL_PX + 1)
            if self.viewportMargins().left() != side:
                self.setViewportMargins(side, 0, 0, 0)
            self.pages.set_margins(self.document().documentMargin(), PAGE_MARGIN_PX, side, below)
        super().resizeEvent(event)
        self.long_edits.card.place()
        self._more_layout.request()


def _is_typing(event: QEvent) -> bool:
    """Whether a key writes, or moves, at the caret alone."""
    if not isinstance(event, QKeyEvent):
        return False
    other = event.modifiers() & (
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    )
    return not other and (bool(event.text()) or event.key() in _NEAR_KEYS)


def _writes(event: QKeyEvent) -> bool:
    """Whether a key puts something in the place of the selection."""
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    return _is_typing(event) and (enter or event.text().isprintable()) and bool(event.text())


def _removes(event: QKeyEvent) -> bool:
    """Whether a key takes the selection away."""
    return event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) or _writes(event)


def _is_for_window(event: QEvent) -> bool:
    """Ctrl+K deletes to the end of the line in Qt on X11; here it belongs to the window."""
    return isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.DeleteEndOfLine)


def _is_other_redo(event: QKeyEvent) -> bool:
    control = Qt.KeyboardModifier.ControlModifier
    return event.key() == Qt.Key.Key_Y and event.modifiers() == control
