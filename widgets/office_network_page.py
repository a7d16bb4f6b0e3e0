"""The page on which one makes, shares, joins and leaves a private network of the office."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication, QComboBox, QWidget

from widgets.card_page import CardPage
from widgets.language import tr
from widgets.look import SPACE_PX, label, line
from widgets.office_network_invitation import InvitationStep
from widgets.office_network_members import MembersStep, NetworkMember
from widgets.office_network_steps import (
    BusyStep,
    ChoicesStep,
    CodeStep,
    Inviter,
    LeaveStep,
    SearchStep,
    Step,
    WaitingStep,
)
from widgets.theme import Theme

__all__ = ["Inviter", "NetworkMember", "OfficeNetworkPage"]


class OfficeNetworkPage(CardPage):
    """In which network one is, and below it one step at a time.

    Signals: `make_wanted(name)`, `leave_wanted`, `invite_wanted`, `give_wanted`, `copy_wanted` and
    `save_wanted` of the invitation, `join_wanted`, `file_wanted`, `cancel_wanted`, `chosen(place)`
    of an inviter, `typed(address or invitation)`, `answered(same)`, `members_wanted`,
    `renew_wanted(fingerprints of those left out)`, `reach_wanted(address)`,
    `interface_wanted(name)`, empty for the program's own choice.
    """

    make_wanted = Signal(str)
    leave_wanted = Signal()
    invite_wanted = Signal()
    give_wanted = Signal()
    copy_wanted = Signal()
    save_wanted = Signal()
    join_wanted = Signal()
    file_wanted = Signal()
    cancel_wanted = Signal()
    chosen = Signal(str)
    typed = Signal(str)
    answered = Signal(bool)
    members_wanted = Signal()
    renew_wanted = Signal(list)
    reach_wanted = Signal(str)
    interface_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(140 * SPACE_PX, parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Its steps take it.
        self.setAccessibleName(tr("Office network"))
        self._now = label("", "strong", wrap=True)
        self._connection = label("", "reading", wrap=True)
        self.interfaces = QComboBox()
        self.interfaces.setAccessibleName(tr("Network interface"))
        self.interfaces.hide()
        self._then = label("", "reading", wrap=True)
        self._said = label("", "plain", wrap=True)
        self.choices = ChoicesStep()
        self.leave = LeaveStep()
        self.members = MembersStep()
        self.invitation = InvitationStep()
        self.waiting = WaitingStep()
        self.search = SearchStep(theme)
        self.code = CodeStep()
        self.busy = BusyStep()
        self._steps: tuple[Step, ...] = (
            self.choices,
            self.leave,
            self.members,
            self.invitation,
            self.waiting,
            self.search,
            self.code,
            self.busy,
        )
        self._fill()
        self._connect()
        self.show_choices()
        self._say_nothing()

    def _fill(self) -> None:
        column = self.column
        column.addWidget(label(tr("Office network"), "heading"))
        words = tr(
            "People in one network find each other and what they share. In a private one are only"
            " those who were invited by somebody in it."
        )
        column.addWidget(label(words, "reading", wrap=True))
        column.addWidget(label(tr("Your network"), "section"))
        column.addWidget(self._now)
        column.addWidget(self._connection)
        column.addWidget(self.interfaces, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._then)
        column.addWidget(line())
        column.addWidget(self._said)
        for step in self._steps:
            column.addWidget(step)

    def _connect(self) -> None:
        self.interfaces.activated.connect(
            lambda at: self.interface_wanted.emit(self.interfaces.itemData(at))
        )
        self.choices.make_wanted.connect(self._quietly(self.make_wanted))
        self.choices.invite_wanted.connect(self._quietly(self.invite_wanted))
        self.choices.join_wanted.connect(self._quietly(self.join_wanted))
        self.choices.give_wanted.connect(self._quietly(self.give_wanted))
        self.choices.reach_wanted.connect(self._quietly(self.reach_wanted))
        self.invitation.copy_wanted.connect(self._quietly(self.copy_wanted))
        self.invitation.save_wanted.connect(self._quietly(self.save_wanted))
        self.invitation.done.connect(self.show_choices)
        self.search.file_wanted.connect(self._quietly(self.file_wanted))
        self.choices.leave_wanted.connect(lambda: self._show(self.leave))
        self.leave.agreed.connect(self._quietly(self.leave_wanted))
        self.leave.cancelled.connect(self.show_choices)
        self.choices.members_wanted.connect(self._quietly(self.members_wanted))
        self.members.renew_wanted.connect(self._quietly(self.renew_wanted))
        self.members.cancelled.connect(self.show_choices)
        for step in (self.waiting, self.search, self.busy):
            step.cancelled.connect(self._quietly(self.cancel_wanted))
        self.search.chosen.connect(self._quietly(self.chosen))
        self.search.typed.connect(self._quietly(self.typed))
        self.code.answered.connect(self._quietly(self.answered))

    def _quietly(self, signal: SignalInstance) -> Callable[..., None]:
        """Passes a wish on; what was said before is past."""

        def pass_on(*values: object) -> None:
            self._say_nothing()
            signal.emit(*values)

        return pass_on

    # What is shown

    def show_scope(self, now: str, then: str, *, private: bool) -> None:
        """The network of this run, that of the next if it is another, and what one can do then."""
        self._now.setText(now)
        words = tr(
            "From the next start: {network}. Close the program and open it again for that.",
            network=then,
        )
        self._then.setText(words if then else "")
        self._then.setVisible(bool(then))
        held = self._holds_keyboard()
        self.choices.show_private(private)
        self.show_choices()
        if held:
            self.choices.first.setFocus()

    def show_connection(self, sentence: str) -> None:
        """How this PC reaches the others."""
        self._connection.setText(sentence)

    def show_interfaces(self, listed: Sequence[tuple[str, str]], chosen: str) -> None:
        """Names and words of those that one can choose; nothing where there is no choice."""
        self.interfaces.clear()
        self.interfaces.addItem(tr("The interface that suits best"), "")
        for name, words in listed:
            self.interfaces.addItem(words, name)
        self.interfaces.setCurrentIndex(max(0, self.interfaces.findData(chosen)))
        self.interfaces.setVisible(len(listed) > 1)

    def show_choices(self) -> None:
        self._show(self.choices)

    def show_members(self, members: Sequence[NetworkMember]) -> None:
        """Who is in the private network."""
        self.members.show_members(members)
        self._show(self.members)

    def show_invitation(self, text: str) -> None:
        """What makes whoever has it a member."""
        self.invitation.show_text(text)
        self._show(self.invitation)

    def show_waiting(self, address: str) -> None:
        """One invites, and nobody has come yet."""
        self.waiting.show_address(address)
        self._show(self.waiting)

    def show_search(self) -> None:
        self._show(self.search)

    def show_inviters(self, inviters: Sequence[Inviter]) -> None:
        self.search.show_inviters(inviters)

    def show_code(self, said: str, code: str) -> None:
        """What both people compare."""
        self._say_nothing()
        self.code.show_code(said, code)
        self._show(self.code)

    def show_busy(self, words: str) -> None:
        self.busy.show_words(words)
        self._show(self.busy)

    def say(self, sentence: str) -> None:
        """What has happened, or why not."""
        self._said.setText(sentence)
        self._said.show()

    @property
    def said(self) -> str:
        return self._said.text()

    @property
    def connection_text(self) -> str:
        """What it says about how others are reached."""
        return self._connection.text()

    @property
    def scope_text(self) -> tuple[str, str]:
        """The network of this run, and what is said of the next."""
        return self._now.text(), self._then.text()

    def _say_nothing(self) -> None:
        self._said.clear()
        self._said.hide()

    def _show(self, shown: Step) -> None:
        held = self._holds_keyboard()
        changed = shown.isHidden()
        for step in self._steps:
            step.setVisible(step is shown)
        if changed and held:
            shown.first.setFocus()

    def _holds_keyboard(self) -> bool:
        """Asked before something is hidden: afterwards the keyboard is elsewhere."""
        focused = QApplication.focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    # Qt

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        shown = next(step for step in self._steps if not step.isHidden())
        shown.first.setFocus()
