"""The others on a desktop as a row of discs over the canvas; a click follows somebody."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QWidget

from widgets import fonts
from widgets.desktop.others import Other
from widgets.language import tr
from widgets.look import SPACE_PX
from widgets.people import initials
from widgets.theme import Theme

_DISC_PX = 28
SHOWN_MAX = 8


class Disc(QAbstractButton):
    """One person. Checked while they are followed."""

    def __init__(self, theme: Theme, other: Other, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._other = other
        self.setCheckable(True)
        self.setFixedSize(_DISC_PX + 4, _DISC_PX + 4)
        self.setAccessibleName(tr("Follow {name}", name=other.name))
        self.setToolTip(tr("Follow {name}", name=other.name))

    # Qt

    def sizeHint(self) -> QSize:
        return QSize(_DISC_PX + 4, _DISC_PX + 4)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        whole = QRectF(self.rect())
        ring = "accent" if self.isChecked() or self.hasFocus() else "raised"
        painter.setBrush(self._theme.colour(ring))
        painter.drawEllipse(whole)
        disc = whole.adjusted(2, 2, -2, -2)
        painter.setBrush(self._theme.person_colour(self._other.colour))
        painter.drawEllipse(disc)
        painter.setPen(self._theme.colour("raised"))
        painter.setFont(fonts.font(11, fonts.Weight.STRONG))
        painter.drawText(disc, Qt.AlignmentFlag.AlignCenter, initials(self._other.name))
        painter.end()


class PeopleRow(QWidget):
    """Signals: `follow_asked(node)`. Attributes: `discs`, by node."""

    follow_asked = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[tuple[int, str, str], ...] = ()
        self.discs: dict[int, Disc] = {}
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(SPACE_PX)

    def show_people(self, others: Sequence[Other], followed: int | None) -> None:
        """Takes the newest; discs are made anew only when somebody comes, goes or changes."""
        people = tuple((other.node, other.name, other.colour) for other in others[:SHOWN_MAX])
        if people != self._shown:
            self._shown = people
            for disc in self.discs.values():
                self._row.removeWidget(disc)
                disc.hide()
                disc.deleteLater()
            self.discs = {other.node: self._disc(other) for other in others[:SHOWN_MAX]}
            self.setVisible(bool(people))
        for node, disc in self.discs.items():
            disc.setChecked(node == followed)
        self.adjustSize()

    def _disc(self, other: Other) -> Disc:
        disc = Disc(self._theme, other, self)
        node = other.node
        disc.clicked.connect(lambda: self.follow_asked.emit(node))
        self._row.addWidget(disc)
        disc.show()
        return disc
