"""The rows of the left side: a place to go, an object, a person."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QToolButton, QWidget

from widgets import fonts
from widgets.icons import show_icon, show_picture_icon
from widgets.language import tr
from widgets.listed_object import ListedObject
from widgets.look import SPACE_PX, kind
from widgets.people import OfficePerson, draw_disc
from widgets.theme import Theme

_ICON = QSize(20, 20)
_PICTURE = QSize(20, 20)
_DISC_PX = 26


def navigation_row(theme: Theme, icon_name: str, text: str) -> QToolButton:
    """A quiet button as wide as the side: an icon, and words where there is room."""
    button = QToolButton()
    kind(button, "navigation")
    button.setText(f"  {text}")  # the space between picture and words
    button.setAccessibleName(text)
    button.setIconSize(_ICON)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    show_icon(button, theme, icon_name, "muted")
    return button


def action_row(theme: Theme, icon_name: str, action: QAction) -> QToolButton:
    """A row that does what the action does, and shows whether it is in force."""
    row = navigation_row(theme, icon_name, action.text())
    row.setToolTip(action.toolTip())
    row.clicked.connect(action.trigger)
    if action.isCheckable():
        row.setCheckable(True)
        row.setChecked(action.isChecked())
        action.toggled.connect(row.setChecked)
        row.clicked.connect(lambda: row.setChecked(action.isChecked()))
    return row


def object_row(theme: Theme, picture: str, entry: ListedObject, width_px: int) -> QToolButton:
    """A row with the drawing of its kind; `width_px` is the room for its title."""
    row = QToolButton()
    kind(row, "navigation")
    words = row.fontMetrics().elidedText(entry.title, Qt.TextElideMode.ElideRight, width_px)
    row.setText(f"  {words.replace('&', '&&')}")
    row.setIconSize(_PICTURE)
    row.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    row.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    row.setToolTip(f"{entry.title}\n{entry.where}".strip())
    row.setAccessibleName(tr("Open {title}", title=entry.title))
    show_picture_icon(row, theme, picture)
    row.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    return row


class PersonRow(QAbstractButton):
    """A disc, a name, and beneath it what the person is in. Folded, the disc alone."""

    def __init__(self, theme: Theme, person: OfficePerson, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.person = person
        self.folded = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setToolTip(f"{person.shown_name}\n{person.words}")
        self.setAccessibleName(f"{person.shown_name}, {person.words}")
        theme.changed.connect(self.update)

    # Qt

    def sizeHint(self) -> QSize:
        return QSize(_DISC_PX + 4 * SPACE_PX, 10 * SPACE_PX)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.hasFocus():
            painter.setPen(self._theme.colour("accent") if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("hover"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        left = (self.width() - _DISC_PX) / 2 if self.folded else 2 * SPACE_PX
        disc = QRectF(left, (self.height() - _DISC_PX) / 2, _DISC_PX, _DISC_PX)
        draw_disc(painter, self._theme, disc, self.person.as_shown())
        if not self.folded:
            self._draw_words(painter, int(disc.right()) + 2 * SPACE_PX)
        painter.end()

    def _draw_words(self, painter: QPainter, left: int) -> None:
        room = self.rect().adjusted(left, SPACE_PX, -2 * SPACE_PX, -SPACE_PX)
        for text, size, role, where in (
            (self.person.shown_name, fonts.Size.BASE, "text", Qt.AlignmentFlag.AlignTop),
            (self.person.words, 11, "muted", Qt.AlignmentFlag.AlignBottom),
        ):
            weight = fonts.Weight.MEDIUM if role == "text" else fonts.Weight.NORMAL
            painter.setFont(fonts.font(size, weight))
            painter.setPen(self._theme.colour(role))
            short = painter.fontMetrics().elidedText(
                text, Qt.TextElideMode.ElideRight, room.width()
            )
            painter.drawText(room, where | Qt.AlignmentFlag.AlignLeft, short)
