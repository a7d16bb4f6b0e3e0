"""The step on the page of the office's network that shows an invitation to hand over."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from widgets.language import tr
from widgets.look import SPACE_PX, label
from widgets.office_network_steps import Step, step_button
from widgets.qr_code import QrCode


class InvitationStep(Step):
    """The invitation as a QR code, as text and as a file. Signals: `copy_wanted`, `save_wanted`,
    `done`."""

    copy_wanted = Signal()
    save_wanted = Signal()
    done = Signal()

    def __init__(self) -> None:
        super().__init__()
        words = tr(
            "Whoever has it is let in without being asked for a code: give it only to those who"
            " belong here. They choose “Join a private network” and put it in there."
        )
        self.code = QrCode()
        self.copy = step_button(tr("Copy as text"), primary=True)
        self.save = step_button(tr("Save as a file…"))
        self.back = step_button(tr("Done"))
        self.column.addWidget(label(tr("The invitation to this network"), "strong"))
        beside = QVBoxLayout()
        beside.setSpacing(2 * SPACE_PX)
        beside.addWidget(label(words, "reading", wrap=True))
        beside.addStretch(1)
        for button in (self.copy, self.save, self.back):
            beside.addWidget(button)
        row = QHBoxLayout()
        row.setSpacing(4 * SPACE_PX)
        row.addWidget(self.code, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(beside, 1)
        self.column.addLayout(row)
        self.copy.clicked.connect(lambda _: self.copy_wanted.emit())
        self.save.clicked.connect(lambda _: self.save_wanted.emit())
        self.back.clicked.connect(lambda _: self.done.emit())
        self.first = self.copy

    def show_text(self, invitation: str) -> None:
        fits = self.code.show_text(invitation)
        self.code.setVisible(fits)
        self.code.setAccessibleName(tr("QR code of the invitation"))
