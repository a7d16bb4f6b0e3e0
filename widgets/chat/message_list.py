"""The list in which the messages of a chat are seen: only what is in sight is painted, and what one
looks at stays in its place when something comes above or below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QPersistentModelIndex, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QListView, QWidget

from widgets.chat.chat_model import ChatModel
from widgets.chat.message_painter import MessagePainter
from widgets.language import tr
from widgets.theme import Theme

_NEAR_END_PX = 24
_NEAR_START_PX = 400


class MessageList(QListView):
    """Signals: `link_clicked(address)`, `menu_asked(global place)`, `scrolled`."""

    link_clicked = Signal(str)
    menu_asked = Signal(QPoint)
    scrolled = Signal()

    def __init__(
        self,
        theme: Theme,
        model: ChatModel,
        names: Callable[[], Sequence[str]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._messages = model
        self._painter = MessagePainter(theme, model, names, self)
        self.setModel(model)
        self.setItemDelegate(self._painter)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMouseTracking(True)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setAccessibleName(tr("Messages"))
        self.verticalScrollBar().setSingleStep(24)
        # It keeps its room, so that lines do not break anew, and is seen when it is of use.
        self.verticalScrollBar().rangeChanged.connect(self._show_bar)
        self.verticalScrollBar().valueChanged.connect(self._on_scroll)
        self._pressed_link = ""

    @property
    def at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.maximum() - bar.value() <= _NEAR_END_PX

    def lay_out_anew(self) -> None:
        """After colours have changed."""
        self._painter.forget()
        self.viewport().update()

    @contextmanager
    def keeping_place(self) -> Iterator[None]:
        """Whatever the body does to the rows, the first one in sight stays where it is."""
        first = self.indexAt(QPoint(self.viewport().width() // 2, 1))
        kept = QPersistentModelIndex(first)
        top = self.visualRect(first).top()
        yield
        if kept.isValid():
            self.executeDelayedItemsLayout()
            moved = self.visualRect(self.model().index(kept.row(), 0)).top() - top
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + moved)

    def _show_bar(self, least: int, most: int) -> None:
        self.verticalScrollBar().setEnabled(most > least)

    def _on_scroll(self, value: int) -> None:
        if value < _NEAR_START_PX and self._messages.has_earlier:
            QTimer.singleShot(0, self, self._show_earlier)
        self.scrolled.emit()

    def _show_earlier(self) -> None:
        if self.verticalScrollBar().value() < _NEAR_START_PX and self._messages.has_earlier:
            with self.keeping_place():
                self._messages.show_earlier()

    def _link_at(self, position: QPoint) -> str:
        index = self.indexAt(position)
        if not index.isValid():
            return ""
        area = QRectF(self.visualRect(index))
        return self._painter.link_at(index, area, QPointF(position))

    # Qt

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        link = self._link_at(event.position().toPoint())
        shape = Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)
        self.viewport().setToolTip(link)
        super().mouseMoveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_link = self._link_at(event.position().toPoint())
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        link = self._link_at(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and link and link == self._pressed_link:
            self.link_clicked.emit(link)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() is QContextMenuEvent.Reason.Mouse:
            index = self.indexAt(event.pos())
            place = event.globalPos()
        else:
            index = self.currentIndex()
            place = self.viewport().mapToGlobal(self.visualRect(index).center())
        if index.isValid():
            self.setCurrentIndex(index)
            self.menu_asked.emit(place)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the end in sight when the window becomes lower or narrower."""
        at_end = self.at_end
        super().resizeEvent(event)
        if at_end:
            self.executeDelayedItemsLayout()
            self.scrollToBottom()
