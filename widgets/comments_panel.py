"""Comments on a shared text: threads in a panel beside it, and their places in the text."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from liveobj.documents import Change, DocumentError, TextChange
from liveobj.objects.comments import Comments, Message, Thread
from widgets.history_bar import time_words
from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.shared_text_edit import SharedTextEdit
from widgets.theme import Theme
from widgets.throttle import QtAlarm, Throttle

_WIDTH_PX = 300
# In a narrow window the text needs some room, too.
_LEAST_PX = 180
_GROUND_ALPHA = 110


class ThreadCard(QFrame):
    """One thread. Signals: `chosen`, `answered(words)`, `settled(bool)`, `removed`."""

    chosen = Signal()
    answered = Signal(str)
    settled = Signal(bool)
    removed = Signal()

    def __init__(self, theme: Theme, thread: Thread, *, editable: bool) -> None:
        super().__init__()
        kind(self, "card")
        self.thread_name = thread.name
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX, 3 * SPACE_PX)
        column.setSpacing(SPACE_PX)
        column.addLayout(self._head(theme, thread, editable))
        for number, message in enumerate(thread.messages):
            if number:
                column.addLayout(_signed(message))
            column.addWidget(_words(message))
        if not thread.placed:
            column.addWidget(label(tr("The text it was about is gone."), "small", wrap=True))
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Answer"))
        self.field.setAccessibleName(tr("Answer"))
        self.field.returnPressed.connect(self._answer)
        self.field.setVisible(editable and not thread.settled)
        column.addWidget(self.field)

    def _head(self, theme: Theme, thread: Thread, editable: bool) -> QHBoxLayout:
        row = _signed(thread.messages[0])
        for icon, words, run, wanted in (
            ("check", tr("Settle"), lambda: self.settled.emit(True), not thread.settled),
            ("rotate-ccw", tr("Open again"), lambda: self.settled.emit(False), thread.settled),
            ("trash-2", tr("Remove"), self.removed.emit, True),
        ):
            if wanted and editable:
                button = QToolButton()
                show_icon(button, theme, icon, "muted")
                button.setToolTip(words)
                button.setAccessibleName(words)
                button.clicked.connect(lambda _checked=False, run=run: run())
                row.addWidget(button)
        return row

    def _answer(self) -> None:
        words = self.field.text().strip()
        if words:
            self.field.clear()
            self.answered.emit(words)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self.chosen.emit()


class CommentsPanel(QFrame):
    """The threads of one text. Signals: `said(sentence)` for what was refused; `closed`;
    `typed(bool)`: whether a comment or an answer is written and not entered yet."""

    said = Signal(str)
    typed = Signal(bool)
    closed = Signal()

    def __init__(
        self,
        theme: Theme,
        comments: Comments,
        editor: SharedTextEdit,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        kind(self, "panel")
        self._theme = theme
        self._comments = comments
        self._editor = editor
        self._places: dict[str, QTextCursor] = {}
        self._draft: tuple[bytes, bytes] | None = None
        self.cards: list[ThreadCard] = []
        self.setMinimumWidth(_LEAST_PX)
        self.setMaximumWidth(_WIDTH_PX)
        self._build()
        self._frame = Throttle(self.refresh, QtAlarm(self), 0.1)
        self._subscriptions = [
            editor.replicated.observe(self._on_change),
            editor.text.observe(self._on_text),
        ]
        theme.changed.connect(self._frame.request)
        self._frame.request()
        self.hide()

    def _build(self) -> None:
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Write a comment, then press Enter"))
        self.field.setAccessibleName(tr("New comment"))
        self.field.returnPressed.connect(self._begin)
        self.field.textChanged.connect(self._on_typed)
        self.field.installEventFilter(self)
        self.field.hide()
        self._empty = label(
            tr("Select some words and comment on them. Everyone here can answer."),
            "muted",
            wrap=True,
        )
        self.settled_too = QPushButton(tr("Show settled"))
        self.settled_too.setCheckable(True)
        self.settled_too.toggled.connect(lambda _: self.refresh())
        close = QToolButton()
        show_icon(close, self._theme, "x", "muted")
        close.setToolTip(tr("Close"))
        close.setAccessibleName(tr("Close comments"))
        close.clicked.connect(self.close_panel)
        head = QHBoxLayout()
        head.addWidget(label(tr("Comments"), "strong"), 1)
        head.addWidget(self.settled_too)
        head.addWidget(close)
        inner = QWidget()
        kind(inner, "panel")
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2 * SPACE_PX)
        self._column.setAlignment(Qt.AlignmentFlag.AlignTop)
        area = QScrollArea()
        kind(area, "plain")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(inner)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * SPACE_PX, 3 * SPACE_PX, 3 * SPACE_PX, 3 * SPACE_PX)
        column.addLayout(head)
        column.addWidget(self.field)
        column.addWidget(self._empty)
        column.addWidget(area, 1)

    def close_view(self) -> None:
        self._theme.changed.disconnect(self._frame.request)
        self._frame.close()
        for subscription in self._subscriptions:
            subscription.close()

    # Intents

    def open_panel(self) -> None:
        self.show()
        self.refresh()

    def close_panel(self) -> None:
        self.hide()
        self._show_draft(None)
        self._editor.setFocus()
        self.closed.emit()

    def begin_comment(self) -> None:
        """Asks for a comment on what is selected."""
        self.open_panel()
        caret, text = self._editor.textCursor(), self._editor.text
        if caret.hasSelection():
            start = self._editor.in_text(caret.selectionStart())
            end = self._editor.in_text(caret.selectionEnd())
            # Places that move with the text, while one writes about it.
            self._show_draft((text.cursor_at(start), text.cursor_at(end, before=True)))
        else:
            self.said.emit(tr("Select what the comment is about first."))

    def _show_draft(self, place: tuple[bytes, bytes] | None) -> None:
        self._draft = place
        self.field.setVisible(place is not None)
        if place is not None:
            self.field.setFocus()

    def _begin(self) -> None:
        if self._draft is not None:
            start, end = map(self._editor.text.position_of, self._draft)
            words = self.field.text()
            if self._try(lambda: _ignore(self._comments.begin(start, end, words))):
                self.field.clear()
                self._show_draft(None)
                self._editor.setFocus()

    def _try(self, edit: Callable[[], None]) -> bool:
        try:
            self._editor.replicated.undo_boundary()
            edit()
        except DocumentError as problem:
            self.said.emit(str(problem))
            return False
        self._editor.history_changed.emit()
        self.refresh()
        return True

    def _on_typed(self, _text: str) -> None:
        fields = [self.field, *(card.field for card in self.cards)]
        self.typed.emit(any(field.text().strip() for field in fields))

    # Changes

    def _on_change(self, change: Change) -> None:
        if any(name.startswith("comment") for name in change.containers):
            self._frame.request()

    def _on_text(self, change: TextChange) -> None:
        # Places move by themselves in the view; only marks that come or go are looked for.
        if any(name.startswith("comment:") for step in change.steps for name in step.marks or ()):
            self._frame.request()

    def refresh(self) -> None:
        """Reads all threads again."""
        threads = self._comments.threads()
        if self._editor.is_filling:
            self._frame.request()  # the places are there when all of the text is
        else:
            self._editor.show_newest()
            self._show_places(threads)
        if not self.isVisible():
            return
        focused = next((card for card in self.cards if card.field.hasFocus()), None)
        written = {card.thread_name: card.field.text() for card in self.cards}
        for card in self.cards:
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        wanted = [t for t in threads if self.settled_too.isChecked() or not t.settled]
        self.cards = [self._card(thread) for thread in wanted]
        for card in self.cards:
            self._column.addWidget(card)
            card.field.setText(written.get(card.thread_name, ""))
            if focused is not None and card.thread_name == focused.thread_name:
                card.field.setFocus()
        self._on_typed("")
        self._empty.setVisible(not self.cards)
        self.settled_too.setVisible(any(thread.settled for thread in threads))

    def _card(self, thread: Thread) -> ThreadCard:
        card = ThreadCard(self._theme, thread, editable=self._editor.replicated.editable)
        card.field.textChanged.connect(self._on_typed)
        name = thread.name
        card.chosen.connect(lambda: self.go_to(name))
        card.answered.connect(
            lambda words: _ignore(self._try(lambda: self._comments.answer(name, words)))
        )
        card.settled.connect(
            lambda settled: _ignore(self._try(lambda: self._comments.settle(name, settled)))
        )
        card.removed.connect(lambda: _ignore(self._try(lambda: self._comments.remove(name))))
        return card

    def _show_places(self, threads: list[Thread]) -> None:
        self._places = {}
        grounds = []
        for thread in threads:
            if not thread.placed or thread.settled:
                continue
            ground = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self._editor.document())
            last = self._editor.document().characterCount() - 1
            cursor.setPosition(min(thread.start, last))
            cursor.setPosition(min(thread.end, last), QTextCursor.MoveMode.KeepAnchor)
            colour = QColor(self._theme.colour("mark_yellow"))
            colour.setAlpha(255 if self.isVisible() else _GROUND_ALPHA)
            ground.cursor = cursor
            ground.format.setBackground(colour)
            ground.format.setUnderlineColor(self._theme.colour("warning"))
            ground.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
            self._places[thread.name] = cursor
            grounds.append(ground)
        self._editor.layers.show("comments", grounds)

    def go_to(self, name: str) -> None:
        """Brings the place of a thread into sight."""
        cursor = self._places.get(name)
        if cursor is not None:
            self._editor.select(cursor.selectionStart(), cursor.selectionEnd())

    # Qt

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH_PX, super().sizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if watched is self.field and escape and event.type() is QEvent.Type.KeyPress:
            self._show_draft(None)
            self._editor.setFocus()
            return True
        return super().eventFilter(watched, event)


def _signed(message: Message) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(SPACE_PX)
    row.addWidget(label(message.who or tr("Somebody"), "strong"))
    row.addWidget(label(time_words(message.seconds), "small"), 1)
    return row


def _words(message: Message) -> QWidget:
    words = label(message.text, "plain", wrap=True)
    words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return words


def _ignore(_value: object) -> None:
    """For signals whose receivers return something."""
