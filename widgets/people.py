"""The people in an object as overlapping discs with initials; hovering tells the names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets import fonts
from widgets.theme import Theme

_DISC_PX = 28
_STEP_PX = 22
_RING_PX = 2
SHOWN_MAX = 4


@dataclass(frozen=True, slots=True)
class ShownPerson:
    """Somebody as they are drawn; `colour` is as it came over the network."""

    name: str
    colour: str
    me: bool = False


def initials(name: str) -> str:
    """One or two letters for a disc."""
    words = [word for word in name.split() if word[0].isalnum()]
    if not words:
        return "?"
    letters = words[0][0] + (words[-1][0] if len(words) > 1 else "")
    return letters.upper()


class People(QWidget):
    """Shows up to `SHOWN_MAX` people and the number of the others.

    Attributes: `people`, the newest list.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.people: tuple[ShownPerson, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_people(self, people: Sequence[ShownPerson]) -> None:
        """Takes the newest list, oneself included."""
        if tuple(people) == self.people:
            return
        self.people = tuple(people)
        self.setAccessibleName(f"People here: {self._names(', ')}")
        self.updateGeometry()
        self.update()

    def _names(self, separator: str) -> str:
        return separator.join(
            f"{person.name} (you)" if person.me else person.name for person in self.people
        )

    def _discs(self) -> list[tuple[str, str | None]]:
        """Letters and colour of every disc; the one that counts the rest has no colour."""
        shown = [(initials(person.name), person.colour) for person in self.people[:SHOWN_MAX]]
        rest = len(self.people) - SHOWN_MAX
        return [*shown, (f"+{rest}", None)] if rest > 0 else list(shown)

    # Qt

    def sizeHint(self) -> QSize:
        count = len(self._discs())
        return QSize(_DISC_PX + max(0, count - 1) * _STEP_PX if count else 0, _DISC_PX)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._names("\n"), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(fonts.font(11, fonts.Weight.STRONG))
        discs = self._discs()
        # From right to left, so that the first, oneself, lies on top.
        for index in range(len(discs) - 1, -1, -1):
            letters, colour = discs[index]
            disc = QRectF(index * _STEP_PX, 0, _DISC_PX, _DISC_PX)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("surface"))
            painter.drawEllipse(disc)
            inner = disc.adjusted(_RING_PX, _RING_PX, -_RING_PX, -_RING_PX)
            role = self._theme.colour("hover")
            painter.setBrush(role if colour is None else self._theme.person_colour(colour))
            painter.drawEllipse(inner)
            painter.setPen(self._theme.colour("text" if colour is None else "raised"))
            painter.drawText(inner, Qt.AlignmentFlag.AlignCenter, letters)
        painter.end()
