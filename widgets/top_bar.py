"""The bar at the top: name, search or command, the object in front, who is in it, sharing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from widgets.icons import application_icon, icon, show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.object_icon import ObjectIcon
from widgets.people import People
from widgets.theme import Theme

_ICON = QSize(20, 20)
_BRAND = QSize(24, 24)
# In a narrower window the picture stands for the program's name.
_NAME_FROM_PX = 860
# In a still narrower one icons stand for words.
_WORDS_FROM_PX = 680


class TopBar(QFrame):
    """Attributes: `people` (the discs), `search`; `share` and `object_icon` (shown while an object
    is in front); `following` (shown while the window follows somebody)."""

    def __init__(
        self,
        theme: Theme,
        side_action: QAction,
        palette_action: QAction,
        share_action: QAction,
        more_actions: Sequence[tuple[str, QAction]],
        theme_action: QAction,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        kind(self, "bar")
        self.people = People(theme)
        self.share = _share_button(theme, share_action)
        self.object_icon = ObjectIcon(theme)
        self.following = QPushButton()
        kind(self.following, "state")
        self.following.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(3 * SPACE_PX, 2 * SPACE_PX, 3 * SPACE_PX, 2 * SPACE_PX)
        row.setSpacing(2 * SPACE_PX)
        row.addWidget(icon_button(theme, "panel-left", side_action))
        brand = QLabel()
        brand.setPixmap(application_icon().pixmap(_BRAND, self.devicePixelRatioF()))
        row.addWidget(brand)
        self._name = label("Live Objects", "brand")
        row.addWidget(self._name)
        row.addStretch(1)
        self._key = label(palette_action.shortcut().toString(), "key")
        self.search = _search_button(theme, palette_action, self._key)
        row.addWidget(self.search, 4)
        row.addStretch(1)
        row.addWidget(self.following)
        row.addWidget(self.people)
        row.addSpacing(SPACE_PX)
        row.addWidget(self.object_icon)
        row.addWidget(self.share)
        self._theme = theme
        self._theme_button = icon_button(theme, "moon", theme_action)
        row.addWidget(self._theme_button)
        for name, action in more_actions:
            row.addWidget(icon_button(theme, name, action))
        theme.changed.connect(self._show_other_theme)
        self._show_other_theme()
        self.show_object(None)

    def show_object(self, picture: str | None) -> None:
        """Takes the picture of the object in front, or None while none is."""
        self.share.setVisible(picture is not None)
        self.object_icon.setVisible(picture is not None)
        if picture is not None:
            self.object_icon.show_picture(picture)

    def show_following(self, name: str) -> None:
        """Says whom the window follows; nobody for an empty name."""
        self.following.setVisible(bool(name))
        self.following.setText(tr("Following {name}", name=name))
        self.following.setAccessibleName(tr("Stop following {name}", name=name))
        self.following.setToolTip(tr("Press to stop"))

    def _show_other_theme(self) -> None:
        """The picture of the theme that a click would give."""
        name = "sun" if self._theme.dark else "moon"
        self._theme_button.setIcon(icon(self._theme, name, "muted"))

    # Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= _NAME_FROM_PX
        self._name.setVisible(wide)
        self._key.setVisible(wide)
        in_words = self.width() >= _WORDS_FROM_PX
        self.share.setText(_share_words() if in_words else "")
        self.search.setText(_search_words() if in_words else "")


def icon_button(theme: Theme, name: str, action: QAction) -> QToolButton:
    """A quiet button with an icon that does what the action does."""
    button = QToolButton()
    show_icon(button, theme, name, "muted")
    button.setIconSize(_ICON)
    button.setToolTip(action.toolTip())
    button.setAccessibleName(action.text())
    button.clicked.connect(action.trigger)
    return button


def _search_words() -> str:
    return "  " + tr("Search or command")


def _share_words() -> str:
    return " " + tr("Share")


def _search_button(theme: Theme, action: QAction, key: QLabel) -> QPushButton:
    button = QPushButton(_search_words())
    kind(button, "search")
    show_icon(button, theme, "search", "muted")
    button.setAccessibleName(action.text())
    button.setMinimumWidth(10 * SPACE_PX)
    button.setMaximumWidth(105 * SPACE_PX)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    button.clicked.connect(action.trigger)
    row = QHBoxLayout(button)
    row.setContentsMargins(0, 0, 2 * SPACE_PX, 0)
    row.addStretch(1)
    key.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    row.addWidget(key)
    return button


def _share_button(theme: Theme, action: QAction) -> QPushButton:
    button = QPushButton(_share_words())
    kind(button, "primary")
    button.setAccessibleName(action.text())
    button.setToolTip(action.toolTip())
    show_icon(button, theme, "share-2", "on_accent")
    button.clicked.connect(action.trigger)
    return button
