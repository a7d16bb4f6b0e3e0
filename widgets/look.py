"""Small helpers with which widgets say what they are; the style sheet gives them their look."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsDropShadowEffect,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from widgets.theme import Theme

SPACE_PX = 4


def kind(widget: QWidget, name: str) -> None:
    """Says what a widget is; see `stylesheet.py` for the kinds there are."""
    widget.setProperty("kind", name)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def label(text: str, name: str, *, wrap: bool = False, centred: bool = False) -> QLabel:
    """A label of a kind. Its text is never read as markup: it may come from somebody else."""
    result = QLabel(text)
    result.setTextFormat(Qt.TextFormat.PlainText)
    result.setWordWrap(wrap)
    if centred:
        result.setAlignment(Qt.AlignmentFlag.AlignCenter)
    kind(result, name)
    return result


class OwnKeys(QObject):
    """Lets a widget have keys for itself that are shortcuts of the window elsewhere."""

    def __init__(self, widget: QWidget, *keys: Qt.Key) -> None:
        super().__init__(widget)
        self._keys = keys
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() is not QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        mine = event.key() in self._keys
        if mine:
            event.accept()
        return mine


def page_column(page: QWidget) -> QVBoxLayout:
    """Makes a widget a page: its ground, and a column from edge to edge for what is in it."""
    kind(page, "page")
    page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return column


def line() -> QFrame:
    """A hairline."""
    result = QFrame()
    kind(result, "line")
    return result


def float_above(widget: QWidget, theme: Theme) -> None:
    """The one soft shadow, for what floats."""
    shadow = QGraphicsDropShadowEffect(widget)
    shadow.setBlurRadius(8 * SPACE_PX)
    shadow.setOffset(0, 2 * SPACE_PX)
    colour = QColor(theme.colour("shadow"))
    colour.setAlphaF(0.45 if theme.dark else 0.16)
    shadow.setColor(colour)
    widget.setGraphicsEffect(shadow)
