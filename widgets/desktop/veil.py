"""The pointers of the others over the object that one works in, which is a widget of its own and
would cover what is painted on the plane."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from widgets.desktop.stage import Stage


class Veil(QWidget):
    """Lies over `view`; `paint` draws, in coordinates of the plane's widget. Nobody can touch it:
    whatever the mouse does is meant for what is below."""

    def __init__(self, plane: QWidget, stage: Stage, paint: Callable[[QPainter], None]) -> None:
        super().__init__(plane)
        self._paint = paint
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        stage.changed.connect(self.update)

    def lie_over(self, view: QWidget | None) -> None:
        """Over a view, or over nothing."""
        self.setVisible(view is not None)
        if view is not None:
            self.setGeometry(view.geometry())
            self.raise_()

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.translate(-self.pos())
        self._paint(painter)
        painter.end()
