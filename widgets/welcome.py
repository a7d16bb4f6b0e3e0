"""The very first page: who one is for the others. A name and a colour, nothing else."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from liveobj.channels.presence import NAME_CHARACTERS_MAX
from widgets.card_page import CardPage
from widgets.icons import application_icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.people import ShownPerson, draw_disc
from widgets.roles import PERSON_COLOURS, PersonColour, nearest_person_colour
from widgets.theme import Theme

_SWATCH_PX = 32
_COLUMNS = 6
_DISC_PX = 56


def colour_name(colour: PersonColour) -> str:
    """The name of one of the twelve, as the person reads it."""
    names = {
        "raspberry": tr("raspberry"),
        "ocean": tr("ocean"),
        "amber": tr("amber"),
        "violet": tr("violet"),
        "fern": tr("fern"),
        "wine": tr("wine"),
        "teal": tr("teal"),
        "chestnut": tr("chestnut"),
        "cobalt": tr("cobalt"),
        "olive": tr("olive"),
        "plum": tr("plum"),
        "pine": tr("pine"),
    }
    return names[colour.name]


class Swatch(QAbstractButton):
    """One of the twelve colours, to be chosen."""

    def __init__(self, theme: Theme, colour: PersonColour, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.colour = colour
        self.setCheckable(True)
        self.setFixedSize(QSize(_SWATCH_PX, _SWATCH_PX))
        self.setToolTip(colour_name(colour))
        self.setAccessibleName(colour_name(colour))
        theme.changed.connect(self.update)

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        disc = QRectF(self.rect()).adjusted(5, 5, -5, -5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.person_colour(self.colour.light))
        painter.drawEllipse(disc)
        if self.isChecked() or self.hasFocus():
            role = "text" if self.isChecked() else "accent"
            painter.setPen(QPen(self._theme.colour(role), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QRectF(self.rect()).adjusted(2, 2, -2, -2))
        painter.end()


class ColourChoice(QWidget):
    """The twelve colours; arrow keys walk among them. Signals: `chosen(colour)` as `#rrggbb`."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, colour: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(SPACE_PX)
        now = nearest_person_colour(colour)
        for number, one in enumerate(PERSON_COLOURS):
            swatch = Swatch(theme, one)
            swatch.setChecked(one == now)
            swatch.clicked.connect(lambda _=False, c=one: self.chosen.emit(c.light))
            self._group.addButton(swatch)
            grid.addWidget(swatch, number // _COLUMNS, number % _COLUMNS)
        grid.setColumnStretch(_COLUMNS, 1)
        self.setAccessibleName(tr("Your colour"))

    @property
    def colour(self) -> str:
        swatch = self._group.checkedButton()
        assert isinstance(swatch, Swatch), "one is always chosen"
        return swatch.colour.light


class _Disc(QWidget):
    """How the others will see the person."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.person = ShownPerson("", "")
        self.setFixedSize(QSize(_DISC_PX, _DISC_PX))

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_disc(painter, self._theme, QRectF(self.rect()).adjusted(1, 1, -1, -1), self.person)
        painter.end()


class Welcome(CardPage):
    """Signals: `done(name, colour)`."""

    done = Signal(str, str)

    def __init__(self, theme: Theme, name: str, colour: str, parent: QWidget | None = None) -> None:
        super().__init__(120 * SPACE_PX, parent)
        self._name = QLineEdit(name)
        kind(self._name, "filter")
        self._name.setMaxLength(NAME_CHARACTERS_MAX)
        self._name.setAccessibleName(tr("Your name"))
        self._colours = ColourChoice(theme, colour)
        self._disc = _Disc(theme)
        self._begin = QPushButton(tr("Begin"))
        kind(self._begin, "primary")
        self._name.textChanged.connect(lambda _: self._show())
        self._name.returnPressed.connect(self._finish)
        self._colours.chosen.connect(lambda _: self._show())
        self._begin.clicked.connect(self._finish)
        self._fill()
        self.setFocusProxy(self._name)
        # What the system calls somebody is a proposal: who types writes another name over it.
        self._name.selectAll()
        self._show()

    def _fill(self) -> None:
        sign = QLabel()
        sign.setPixmap(application_icon().pixmap(QSize(48, 48), self.devicePixelRatioF()))
        column = self.column
        column.addWidget(sign)
        column.addWidget(label(tr("Welcome to the table"), "title", wrap=True))
        words = tr(
            "There is no account and no server. Just tell the others who you are; you can change"
            " it at any time."
        )
        column.addWidget(label(words, "reading", wrap=True))
        row = QHBoxLayout()
        row.setSpacing(4 * SPACE_PX)
        row.addWidget(self._disc)
        fields = QVBoxLayout()
        fields.setSpacing(SPACE_PX)
        fields.addWidget(label(tr("Your name"), "strong"))
        fields.addWidget(self._name)
        row.addLayout(fields, 1)
        column.addLayout(row)
        column.addWidget(label(tr("Your colour"), "strong"))
        column.addWidget(self._colours)
        last = QHBoxLayout()
        last.addWidget(self._begin)
        last.addStretch(1)
        column.addLayout(last)

    def _show(self) -> None:
        name = self._name.text().strip()
        self._disc.person = ShownPerson(name, self._colours.colour, me=True)
        self._disc.setAccessibleName(tr("How others see you: {name}", name=name))
        self._disc.update()
        self._begin.setEnabled(bool(name))

    def _finish(self) -> None:
        name = self._name.text().strip()
        if name:
            self.done.emit(name, self._colours.colour)
