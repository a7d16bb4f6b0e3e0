"""The steps on the page of the office's network; one of them is shown at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from widgets.icons import icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

_NAME_CHARACTERS_MAX = 64
# Enough for any address, and nothing that has to be cut to be shown.
_ADDRESS_CHARACTERS_MAX = 64
_INVITATION_CHARACTERS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Inviter:
    """Somebody who invites: `place` tells them apart, `name` is what they call themselves."""

    place: str
    name: str
    address: str


class Step(QWidget):
    """A column of widgets, without a margin of its own; `first` is where the keyboard begins."""

    first: QWidget

    def __init__(self) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(3 * SPACE_PX)

    def add_row(self, *widgets: QWidget, wide: QWidget | None = None) -> None:
        row = QHBoxLayout()
        row.setSpacing(2 * SPACE_PX)
        for widget in widgets:
            row.addWidget(widget, 1 if widget is wide else 0)
        if wide is None:
            row.addStretch(1)
        self.column.addLayout(row)


def step_button(words: str, *, primary: bool = False) -> QPushButton:
    button = QPushButton(words)
    if primary:
        kind(button, "primary")
    return button


def _field(name: str, length_max: int, placeholder: str) -> QLineEdit:
    field = QLineEdit()
    kind(field, "filter")
    field.setMaxLength(length_max)
    field.setAccessibleName(name)
    field.setPlaceholderText(placeholder)
    return field


class ChoicesStep(Step):
    """What one can do. Signals: `make_wanted(name)`, `invite_wanted`, `give_wanted`, `join_wanted`,
    `members_wanted`, `leave_wanted`, `reach_wanted(address)`."""

    make_wanted = Signal(str)
    invite_wanted = Signal()
    give_wanted = Signal()
    join_wanted = Signal()
    members_wanted = Signal()
    leave_wanted = Signal()
    reach_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        name = tr("Name of the new network")
        self.name = _field(name, _NAME_CHARACTERS_MAX, tr("Name, for example: Design team"))
        self.make = step_button(tr("Make it"), primary=True)
        self.invite = step_button(tr("Invite somebody near"), primary=True)
        self.give = step_button(tr("Give an invitation"))
        self.join = step_button(tr("Join a private network"))
        self.members = step_button(tr("Members and key"))
        self.leave = step_button(tr("Leave the private network"))
        self._making = label(tr("Make a private network"), "strong")
        self.column.addWidget(self._making)
        self.add_row(self.name, self.make, wide=self.name)
        self.add_row(self.invite, self.give, self.join)
        self.add_row(self.members, self.leave)
        self._add_reach()
        self.name.textChanged.connect(lambda _: self._show_make())
        self.name.returnPressed.connect(self.make.click)
        self.make.clicked.connect(self._make)
        self.invite.clicked.connect(lambda _: self.invite_wanted.emit())
        self.give.clicked.connect(lambda _: self.give_wanted.emit())
        self.join.clicked.connect(lambda _: self.join_wanted.emit())
        self.members.clicked.connect(lambda _: self.members_wanted.emit())
        self.leave.clicked.connect(lambda _: self.leave_wanted.emit())
        self.show_private(False)
        self._show_make()

    def show_private(self, private: bool) -> None:
        for widget in (self._making, self.name, self.make, self.join):
            widget.setHidden(private)
        for button in (self.invite, self.give, self.members, self.leave):
            button.setHidden(not private)
        self.first = self.invite if private else self.name

    def _add_reach(self) -> None:
        name = tr("Address of a computer that is not found, as its own page shows it")
        self.address = _field(name, _ADDRESS_CHARACTERS_MAX, "192.168.1.5:47475")
        self.reach = step_button(tr("Reach it"))
        self.column.addWidget(label(name, "small", wrap=True))
        self.add_row(self.address, self.reach, wide=self.address)
        self.address.returnPressed.connect(self.reach.click)
        self.reach.clicked.connect(lambda _: self.reach_wanted.emit(self.address.text()))

    def _show_make(self) -> None:
        self.make.setEnabled(bool(self.name.text().strip()))

    def _make(self) -> None:
        self.make_wanted.emit(self.name.text())
        self.name.clear()


class LeaveStep(Step):
    """The question before one leaves. Signals: `agreed`, `cancelled`."""

    agreed = Signal()
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        words = tr(
            "You come back only when somebody who is in it invites you again. If nobody else is in"
            " it, the network is gone."
        )
        self.column.addWidget(label(tr("Leave the private network?"), "strong", wrap=True))
        self.column.addWidget(label(words, "reading", wrap=True))
        self.agree = step_button(tr("Leave"))
        self.stay = step_button(tr("Stay"), primary=True)
        self.add_row(self.stay, self.agree)
        self.agree.clicked.connect(lambda _: self.agreed.emit())
        self.stay.clicked.connect(lambda _: self.cancelled.emit())
        self.first = self.stay


class WaitingStep(Step):
    """One invites, and waits. Signals: `cancelled`."""

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        words = tr(
            "On the other computer: search for “Office network” with Ctrl+K, then “Join a private"
            " network”. If you are not listed there, this address can be typed:"
        )
        self.address = label("", "code")
        self.address.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.cancel = step_button(tr("Stop inviting"))
        self.column.addWidget(label(tr("Waiting for somebody to ask…"), "strong"))
        self.column.addWidget(label(words, "reading", wrap=True))
        self.column.addWidget(self.address)
        self.add_row(self.cancel)
        self.cancel.clicked.connect(lambda _: self.cancelled.emit())
        self.first = self.cancel

    def show_address(self, address: str) -> None:
        self.address.setText(address)
        self.address.setAccessibleName(tr("Address of this invitation: {it}", it=address))


class SearchStep(Step):
    """Who invites near, a typed address, or an invitation. Signals: `chosen(place)`,
    `typed(address or invitation)`, `file_wanted`, `cancelled`."""

    chosen = Signal(str)
    typed = Signal(str)
    file_wanted = Signal()
    cancelled = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.buttons: dict[str, QPushButton] = {}
        self._nobody = label(
            tr("Searching… Ask the other person to choose “Invite somebody near”."),
            "reading",
            wrap=True,
        )
        self._list = QVBoxLayout()
        self._list.setSpacing(SPACE_PX)
        name = tr("Address that the other computer shows, or the text of an invitation")
        self.address = _field(name, _INVITATION_CHARACTERS_MAX, "192.168.1.5:47475")
        self.ask = step_button(tr("Ask there"))
        self.file = step_button(tr("Open an invitation…"))
        self.file.setToolTip(tr("A file, or a picture of its QR code"))
        self.cancel = step_button(tr("Cancel"))
        self.column.addWidget(label(tr("Who invites near you"), "strong"))
        self.column.addWidget(self._nobody)
        self.column.addLayout(self._list)
        self.column.addWidget(label(name, "small", wrap=True))
        self.add_row(self.address, self.ask, wide=self.address)
        self.add_row(self.file, self.cancel)
        self.file.clicked.connect(lambda _: self.file_wanted.emit())
        self.address.returnPressed.connect(self._type)
        self.ask.clicked.connect(self._type)
        self.cancel.clicked.connect(lambda _: self.cancelled.emit())
        self.first = self.address

    def show_inviters(self, inviters: Sequence[Inviter]) -> None:
        wanted = {one.place: one for one in inviters}
        for place in [place for place in self.buttons if place not in wanted]:
            self.buttons.pop(place).deleteLater()
        for place, one in wanted.items():
            if place not in self.buttons:
                self.buttons[place] = self._add(place)
            # A name is somebody's word: a sign for a shortcut in it is none.
            words = tr("{name} at {address}", name=one.name, address=one.address)
            self.buttons[place].setText(words.replace("&", "&&"))
            self.buttons[place].setAccessibleName(words)
        self._nobody.setVisible(not wanted)

    def _add(self, place: str) -> QPushButton:
        button = step_button("")
        kind(button, "choice")
        button.setIcon(icon(self._theme, "user", "muted"))
        button.clicked.connect(lambda: self.chosen.emit(place))
        self._list.addWidget(button)
        return button

    def _type(self) -> None:
        self.typed.emit(self.address.text())


class CodeStep(Step):
    """The code that two people compare. Signals: `answered(same)`."""

    answered = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.said = label("", "strong", wrap=True)
        self.code = label("", "code-to-compare", centred=True)
        words = tr("Ask the other person which code they see, by voice or at their screen.")
        self.same = step_button(tr("The codes are the same"), primary=True)
        self.differ = step_button(tr("They differ"))
        self.column.addWidget(self.said)
        self.column.addWidget(self.code)
        self.column.addWidget(label(words, "reading", wrap=True))
        self.add_row(self.same, self.differ)
        self.same.clicked.connect(lambda: self.answered.emit(True))
        self.differ.clicked.connect(lambda: self.answered.emit(False))
        # Whoever was typing does not agree with the next key.
        self.first = self.differ

    def show_code(self, said: str, code: str) -> None:
        self.said.setText(said)
        self.code.setText(code)
        self.code.setAccessibleName(tr("The code is {code}", code=code))


class BusyStep(Step):
    """The other side is at work. Signals: `cancelled`."""

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.words = label("", "strong", wrap=True)
        self.cancel = step_button(tr("Cancel"))
        self.column.addWidget(self.words)
        self.add_row(self.cancel)
        self.cancel.clicked.connect(lambda _: self.cancelled.emit())
        self.first = self.cancel

    def show_words(self, words: str) -> None:
        self.words.setText(words)
