"""The people in an object as overlapping discs with initials; hovering tells the names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets import fonts
from widgets.language import tr
from widgets.theme import Theme

_DISC_PX = 28
_STEP_PX = 22
_RING_PX = 2
SHOWN_MAX = 4


class Here(Enum):
    """How much somebody is here."""

    LOOKING = "looking"
    BEHIND = "behind"
    IDLE = "idle"
    AWAY = "away"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ShownPerson:
    """Somebody as they are drawn; `colour` is as it came over the network, `node` tells apart
    those of one name; `fingerprint` is that of the identity they have proved, empty if none."""

    name: str
    colour: str
    me: bool = False
    here: Here = Here.LOOKING
    node: int = 0
    fingerprint: str = ""

    @property
    def proof(self) -> str:
        """The words, and whether they are who they say they are."""
        if self.me:
            return self.words
        if not self.fingerprint:
            return tr("{person} · not verified", person=self.words)
        return f"{self.words} · {self.fingerprint}"

    @property
    def words(self) -> str:
        """The name, and what there is to say about it."""
        if self.me:
            return tr("{name} (you)", name=self.name)
        match self.here:
            case Here.IDLE:
                return tr("{name} (idle)", name=self.name)
            case Here.AWAY:
                return tr("{name} (away)", name=self.name)
            case Here.LOST:
                return tr("{name} (reconnecting)", name=self.name)
        return self.name


@dataclass(frozen=True, slots=True)
class OfficePerson:
    """Somebody in the office. `place` is the title of what they look at, or have open, among what
    is open here; `key` is what the program finds that by, empty where there is nothing."""

    node: int
    name: str
    colour: str
    here: Here
    place: str = ""
    key: str = ""
    me: bool = False

    @property
    def shown_name(self) -> str:
        return tr("{name} (you)", name=self.name) if self.me else self.name

    @property
    def words(self) -> str:
        """What they do, in a few words."""
        match self.here:
            case Here.LOST:
                return tr("reconnecting")
            case Here.AWAY:
                return tr("away")
            case Here.IDLE:
                return tr("idle, in {title}", title=self.place) if self.place else tr("idle")
            case Here.BEHIND if self.place:
                return tr("has {title} open", title=self.place)
            case _ if self.place:
                return tr("in {title}", title=self.place)
        return tr("online")

    def as_shown(self) -> ShownPerson:
        return ShownPerson(self.name, self.colour, self.me, self.here, self.node)


def initials(name: str) -> str:
    """One or two letters for a disc."""
    words = [word for word in name.split() if word[0].isalnum()]
    if not words:
        return "?"
    letters = words[0][0] + (words[-1][0] if len(words) > 1 else "")
    return letters.upper()


def draw_disc(painter: QPainter, theme: Theme, disc: QRectF, person: ShownPerson) -> None:
    """A person's disc: full while they are here, a ring while idle or away, a broken one while
    they are looked for."""
    colour = theme.person_colour(person.colour)
    painter.setFont(fonts.font(max(11, round(disc.height() * 0.38)), fonts.Weight.STRONG))
    if person.here in (Here.LOOKING, Here.BEHIND):
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(disc)
        painter.setPen(theme.colour("raised"))
    else:
        line = Qt.PenStyle.DotLine if person.here is Here.LOST else Qt.PenStyle.SolidLine
        painter.setPen(QPen(QColor(colour), _RING_PX, line))
        painter.setBrush(theme.colour("raised"))
        painter.drawEllipse(disc.adjusted(1, 1, -1, -1))
        painter.setPen(colour)
    painter.drawText(disc, Qt.AlignmentFlag.AlignCenter, initials(person.name))


class People(QWidget):
    """Shows up to `SHOWN_MAX` people and the number of the others.

    Attributes: `people`, the newest list. Signals: `asked(person)` when a disc is pressed.
    """

    asked = Signal(object)

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
        self.setAccessibleName(tr("People here: {names}", names=self._names(", ")))
        self.updateGeometry()
        self.update()

    def _names(self, separator: str) -> str:
        return separator.join(person.words for person in self.people)

    # Qt

    def sizeHint(self) -> QSize:
        count = min(len(self.people), SHOWN_MAX + 1)
        return QSize(_DISC_PX + max(0, count - 1) * _STEP_PX if count else 0, _DISC_PX)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            names = "\n".join(person.proof for person in self.people)
            QToolTip.showText(event.globalPos(), names, self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = int(event.position().x()) // _STEP_PX
        if index < min(len(self.people), SHOWN_MAX):
            self.asked.emit(self.people[index])

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rest = len(self.people) - SHOWN_MAX
        if rest > 0:
            self._draw_rest(painter, rest)
        # From right to left, so that the first, oneself, lies on top.
        for index in range(min(len(self.people), SHOWN_MAX) - 1, -1, -1):
            inner = self._ground(painter, index)
            draw_disc(painter, self._theme, inner, self.people[index])
        painter.end()

    def _ground(self, painter: QPainter, index: int) -> QRectF:
        """The rim that sets a disc off from the one beneath; gives the room inside."""
        disc = QRectF(index * _STEP_PX, 0, _DISC_PX, _DISC_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("surface"))
        painter.drawEllipse(disc)
        return disc.adjusted(_RING_PX, _RING_PX, -_RING_PX, -_RING_PX)

    def _draw_rest(self, painter: QPainter, rest: int) -> None:
        inner = self._ground(painter, SHOWN_MAX)
        painter.setBrush(self._theme.colour("hover"))
        painter.drawEllipse(inner)
        painter.setFont(fonts.font(11, fonts.Weight.STRONG))
        painter.setPen(self._theme.colour("text"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignCenter, f"+{rest}")
