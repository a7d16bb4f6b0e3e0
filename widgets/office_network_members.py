"""The step of the office's network on which one sees who is in it, and renews its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout

from widgets.language import tr
from widgets.look import SPACE_PX, label
from widgets.office_network_steps import Step, step_button


@dataclass(frozen=True, slots=True)
class NetworkMember:
    """Somebody in the private network; `fingerprint` tells them apart, whatever they are called."""

    name: str
    fingerprint: str
    is_me: bool


class MembersStep(Step):
    """Who is in the network, each with a tick for those who stay. Signals: `renew_wanted(list of
    the fingerprints of those who do not)`, `cancelled`."""

    renew_wanted = Signal(list)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.ticks: dict[str, QCheckBox] = {}
        self._list = QVBoxLayout()
        self._list.setSpacing(2 * SPACE_PX)
        words = tr(
            "A new key goes to everybody who is ticked, also to those who are away when they come"
            " back. Whoever is not ticked is out within a minute."
        )
        self.renew = step_button(tr("Renew the key"), primary=True)
        self.cancel = step_button(tr("Back"))
        self.column.addWidget(label(tr("Who is in this network"), "strong"))
        self.column.addLayout(self._list)
        self.column.addWidget(label(words, "reading", wrap=True))
        self.add_row(self.renew, self.cancel)
        self.renew.clicked.connect(lambda _: self.renew_wanted.emit(self._left_out()))
        self.cancel.clicked.connect(lambda _: self.cancelled.emit())
        # Whoever was typing does not renew with the next key.
        self.first = self.cancel

    def show_members(self, members: Sequence[NetworkMember]) -> None:
        for tick in self.ticks.values():
            tick.deleteLater()
        self.ticks = {one.fingerprint: self._add(one) for one in members}

    def _add(self, one: NetworkMember) -> QCheckBox:
        words = tr("{name} (you)", name=one.name) if one.is_me else one.name
        words = f"{words} · {one.fingerprint}"
        # A name is somebody's word: a sign for a shortcut in it is none.
        tick = QCheckBox(words.replace("&", "&&"))
        tick.setAccessibleName(words)
        tick.setChecked(True)
        tick.setEnabled(not one.is_me)
        tick.toggled.connect(lambda _: self._show_renew())
        self._list.addWidget(tick)
        return tick

    def _show_renew(self) -> None:
        count = len(self._left_out())
        if count:
            self.renew.setText(tr("Renew the key without {count}", count=count))
        else:
            self.renew.setText(tr("Renew the key"))

    def _left_out(self) -> list[str]:
        return [place for place, tick in self.ticks.items() if not tick.isChecked()]
