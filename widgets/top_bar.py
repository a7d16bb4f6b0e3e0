"""The bar at the top: name, search or command, people in the object in front, sharing, theme."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from widgets.icons import application_icon, icon, show_icon
from widgets.look import SPACE_PX, kind, label
from widgets.people import People
from widgets.theme import Theme

_ICON = QSize(20, 20)
_BRAND = QSize(24, 24)
# In a narrower window the picture stands for the program's name.
_NAME_FROM_PX = 740


class TopBar(QFrame):
    """Attributes: `people` (the discs), `share` (the button, shown while an object is in front)."""

    def __init__(
        self,
        theme: Theme,
        side_action: QAction,
        palette_action: QAction,
        share_actions: Sequence[QAction],
        theme_action: QAction,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        kind(self, "bar")
        self.people = People(theme)
        self.share = _share_button(theme, share_actions)
        row = QHBoxLayout(self)
        row.setContentsMargins(3 * SPACE_PX, 2 * SPACE_PX, 3 * SPACE_PX, 2 * SPACE_PX)
        row.setSpacing(2 * SPACE_PX)
        row.addWidget(icon_button(theme, "panel-left", side_action))
        brand = QLabel()
        brand.setPixmap(application_icon().pixmap(_BRAND, self.devicePixelRatioF()))
        row.addWidget(brand)
        self._name = label("Live Objects", "brand")
        row.addWidget(self._name)
        row.addSpacing(4 * SPACE_PX)
        row.addStretch(1)
        row.addWidget(_search_button(theme, palette_action), 4)
        row.addStretch(1)
        row.addWidget(self.people)
        row.addSpacing(SPACE_PX)
        row.addWidget(self.share)
        self._theme = theme
        self._theme_button = icon_button(theme, "moon", theme_action)
        row.addWidget(self._theme_button)
        theme.changed.connect(self._show_other_theme)
        self._show_other_theme()

    def _show_other_theme(self) -> None:
        """The picture of the theme that a click would give."""
        name = "sun" if self._theme.dark else "moon"
        self._theme_button.setIcon(icon(self._theme, name, "muted"))

    # Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._name.setVisible(self.width() >= _NAME_FROM_PX)


def icon_button(theme: Theme, name: str, action: QAction) -> QToolButton:
    """A quiet button with an icon that does what the action does."""
    button = QToolButton()
    show_icon(button, theme, name, "muted")
    button.setIconSize(_ICON)
    button.setToolTip(action.toolTip())
    button.setAccessibleName(action.text())
    button.clicked.connect(action.trigger)
    return button


def _search_button(theme: Theme, action: QAction) -> QPushButton:
    button = QPushButton("  Search or command")
    kind(button, "search")
    show_icon(button, theme, "search", "muted")
    button.setAccessibleName(action.text())
    button.setMinimumWidth(62 * SPACE_PX)
    button.setMaximumWidth(105 * SPACE_PX)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    button.clicked.connect(action.trigger)
    row = QHBoxLayout(button)
    row.setContentsMargins(0, 0, 2 * SPACE_PX, 0)
    row.addStretch(1)
    key = label(action.shortcut().toString(), "key")
    key.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    row.addWidget(key)
    return button


def _share_button(theme: Theme, actions: Sequence[QAction]) -> QPushButton:
    button = QPushButton(" Share")
    kind(button, "primary")
    button.setAccessibleName("Share")
    show_icon(button, theme, "share-2", "on_accent")
    menu = QMenu(button)
    menu.addActions(list(actions))
    # Not setMenu: it would add an arrow that the style sheet cannot draw sharp.
    button.clicked.connect(
        lambda: menu.popup(button.mapToGlobal(button.rect().bottomLeft()) + _below())
    )
    return button


def _below() -> QPoint:
    return QPoint(0, SPACE_PX)
