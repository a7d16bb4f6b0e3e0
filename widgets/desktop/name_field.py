"""A field over an item's strip, in which it gets another name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from liveobj.objects.desktop_items import TITLE_CHARACTERS_MAX
from widgets.desktop.frame_parts import STRIP
from widgets.desktop.overlay import window_rect
from widgets.desktop.stage import Stage
from widgets.language import tr

_WIDTH_MIN_PX = 140


class NameField(QLineEdit):
    """Enter and leaving the field keep the name, Esc does not. `named` is told item and name."""

    closed = Signal()

    def __init__(
        self, parent: QWidget, stage: Stage, identity: str, name: str, named: Callable[[str], None]
    ) -> None:
        super().__init__(name, parent)
        self._stage = stage
        self._identity = identity
        self._before = name
        self._named: Callable[[str], None] | None = named
        self.setMaxLength(TITLE_CHARACTERS_MAX)
        self.setAccessibleName(tr("Name"))
        self.place()
        self.selectAll()
        self.show()
        self.setFocus()
        stage.changed.connect(self.place)

    def place(self) -> None:
        """Follows its item; without one it closes."""
        frame = self._stage.frame_of(self._identity)
        if frame is None:
            self._finish(keep=False)
            return
        rect = window_rect(self._stage, frame)
        height = max(round(STRIP * self._stage.camera.zoom), 30)
        width = max(round(rect.width()) - 8, _WIDTH_MIN_PX)
        self.setGeometry(round(rect.x()) + 4, round(rect.y()), width, height)

    def _finish(self, *, keep: bool) -> None:
        named, self._named = self._named, None
        if named is None:
            return
        self._stage.changed.disconnect(self.place)
        if keep and self.text().strip() != self._before:
            named(self.text())
        self.closed.emit()
        self.hide()
        self.deleteLater()

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._finish(keep=False)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finish(keep=True)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self._finish(keep=True)
