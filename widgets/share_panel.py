"""Handing an object to others: what they may do with it, and by which way they get it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from liveobj.capabilities import can_edit, view_only
from liveobj.references import Reference
from liveobj.references.compact import compact_text
from liveobj.references.makers import unsigned
from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label, line
from widgets.object_icon import ObjectIcon
from widgets.people import OfficePerson
from widgets.qr_code import QrCode
from widgets.side_rows import PersonRow
from widgets.theme import Theme

_WIDTH_PX = 360
_PEOPLE_MAX = 5


class SharePanel(QFrame):
    """Floats under the button that opened it; Esc or a click elsewhere sends it away.

    Signals: `save_asked(reference)`, `copy_asked(reference)`, `hand_asked(reference, person)` for
    somebody near, `drag_asked(reference)`.
    """

    save_asked = Signal(object)
    copy_asked = Signal(object)
    hand_asked = Signal(object, object)
    drag_asked = Signal(object)

    def __init__(
        self, theme: Theme, reference: Reference, title: str, picture: str, window: QWidget
    ) -> None:
        super().__init__(window, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self._theme = theme
        self._reference = reference
        kind(self, "popup")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(tr("Share {title}", title=title))
        self.setFixedWidth(_WIDTH_PX)
        self.edit = QRadioButton(tr("They can edit"))
        self.view = QRadioButton(tr("They can view"))
        may_edit = can_edit(reference)
        self.edit.setEnabled(may_edit)
        (self.edit if may_edit else self.view).setChecked(True)
        self.edit.toggled.connect(lambda _: self._show_code())
        self._code = QrCode()
        self._code_words = label("", "small", wrap=True)
        self._near = QVBoxLayout()
        self._near_words = label("", "small", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[5 * SPACE_PX] * 4)
        column.setSpacing(3 * SPACE_PX)
        column.addLayout(self._head(title, picture))
        column.addLayout(self._rights())
        column.addLayout(self._ways())
        column.addWidget(self._code, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self._code_words)
        column.addWidget(line())
        column.addWidget(label(tr("PEOPLE NEAR ME"), "section"))
        column.addLayout(self._near)
        column.addWidget(self._near_words)
        self._show_code()
        self.show_people(())

    @property
    def chosen(self) -> Reference:
        """The reference with the rights that are chosen."""
        return self._reference if self.edit.isChecked() else view_only(self._reference)

    def show_people(self, people: Sequence[OfficePerson]) -> None:
        """Takes those to whom it can be handed directly."""
        while (item := self._near.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        for person in people[:_PEOPLE_MAX]:
            row = PersonRow(self._theme, person)
            row.setAccessibleName(tr("Hand it to {name}", name=person.name))
            row.clicked.connect(lambda _=False, p=person: self.hand_asked.emit(self.chosen, p))
            self._near.addWidget(row)
        if people:
            words = tr("Press a name, and they are asked whether they want it.")
        else:
            words = tr("Nobody else runs Live Objects on this network just now.")
        self._near_words.setText(words)

    def open_under(self, button: QWidget) -> None:
        self.adjustSize()
        corner = button.mapToGlobal(QPoint(button.width() - self.width(), button.height() + 4))
        self.move(corner)
        self.show()

    def _head(self, title: str, picture: str) -> QHBoxLayout:
        icon = ObjectIcon(self._theme)
        icon.show_picture(picture)
        icon.drag_asked.connect(lambda: self.drag_asked.emit(self.chosen))
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(label(tr("Share {title}", title=title), "strong", wrap=True))
        words.addWidget(
            label(tr("Drag the picture to a mail or a folder, or:"), "small", wrap=True)
        )
        row = QHBoxLayout()
        row.setSpacing(3 * SPACE_PX)
        row.addWidget(icon)
        row.addLayout(words, 1)
        return row

    def _rights(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4 * SPACE_PX)
        row.addWidget(self.edit)
        row.addWidget(self.view)
        row.addStretch(1)
        return row

    def _ways(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(2 * SPACE_PX)
        ways = (
            ("save", tr("Save file…"), lambda: self.save_asked.emit(self.chosen)),
            ("copy", tr("Copy as text"), lambda: self.copy_asked.emit(self.chosen)),
        )
        for number, (icon_name, words, run) in enumerate(ways):
            button = QPushButton(f" {words}")
            button.setAccessibleName(words)
            show_icon(button, self._theme, icon_name)
            button.clicked.connect(run)
            grid.addWidget(button, 0, number)
        return grid

    def _show_code(self) -> None:
        # Who scans it stands beside its owner; a code with a signature would be too fine to scan.
        fits = self._code.show_text(compact_text(unsigned(self.chosen)))
        self._code.setVisible(fits)
        if fits:
            words = tr("Whoever scans this and opens it is in the object with you.")
            self._code.setAccessibleName(tr("QR code of the object"))
        else:
            words = tr("It is too large for a QR code. Save it as a file instead.")
        self._code_words.setText(words)
        self.adjustSize()

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
