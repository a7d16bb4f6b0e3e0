"""A small box near the caret in which one writes where a link leads."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QPushButton, QWidget

from liveobj.richtext.model import safe_link
from widgets.language import tr
from widgets.look import SPACE_PX, float_above, kind
from widgets.theme import Theme

_WIDTH_PX = 420


class LinkBox(QFrame):
    """Signals: `chosen(address)`: empty to take the link away; `refused`; `opened(address)`;
    `closed`."""

    chosen = Signal(str)
    refused = Signal()
    opened = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        kind(self, "float")
        self._theme = theme
        self._page = parent
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Address, such as https://example.org"))
        self.field.setAccessibleName(tr("Address of the link"))
        self._open = QPushButton(tr("Open"))
        self._remove = QPushButton(tr("Remove"))
        done = QPushButton(tr("Done"))
        kind(done, "primary")
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX)
        row.addWidget(self.field, 1)
        for button in (self._open, self._remove, done):
            row.addWidget(button)
        done.clicked.connect(self._choose)
        self._remove.clicked.connect(lambda: self._finish(""))
        self._open.clicked.connect(lambda: self.opened.emit(self.field.text()))
        self.hide()

    def show_at(self, point: QPoint, address: str) -> None:
        self.field.setText(address)
        self._open.setVisible(bool(address))
        self._remove.setVisible(bool(address))
        self.resize(_WIDTH_PX, self.sizeHint().height())
        left = max(SPACE_PX, min(point.x(), self._page.width() - _WIDTH_PX - SPACE_PX))
        top = min(point.y(), self._page.height() - self.height() - SPACE_PX)
        self.move(left, top)
        float_above(self, self._theme)
        self.show()
        self.raise_()
        self.field.setFocus()
        self.field.selectAll()

    def _choose(self) -> None:
        words = self.field.text().strip()
        if not words:
            self._finish("")
            return
        if "@" in words and ":" not in words and "/" not in words:
            words = f"mailto:{words}"
        elif ":" not in words.split("/")[0].split(".")[0]:
            words = f"https://{words}"
        address = safe_link(words)
        if address is None:
            self.refused.emit()
        else:
            self._finish(address)

    def _finish(self, address: str) -> None:
        self.hide()
        self.chosen.emit(address)
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
            self.closed.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose()
        else:
            super().keyPressEvent(event)
