"""The left side: places to go, pinned and recent objects, people above; the toolbox below."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QMenu, QScrollArea, QToolButton, QVBoxLayout, QWidget

from widgets.language import tr
from widgets.listed_object import ListedObject
from widgets.look import SPACE_PX, kind, label, line
from widgets.object_kind import Kinds
from widgets.people import OfficePerson
from widgets.side_rows import PersonRow, action_row, object_row
from widgets.theme import Theme
from widgets.toolbox import Tool, Toolbox

_WIDTH_PX = 232
_FOLDED_PX = 60
_TITLE_PX = _WIDTH_PX - 19 * SPACE_PX
RECENT_MAX = 6


class Section(QWidget):
    """A heading and rows below it; not there while it is empty."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = label(title, "section")
        self._heading.setContentsMargins(2 * SPACE_PX, 2 * SPACE_PX, 0, SPACE_PX // 2)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_PX // 2)
        self._column.addWidget(self._heading)
        self._rows: list[QWidget] = []
        self._folds_away = True
        self.hide()

    @property
    def rows(self) -> Sequence[QWidget]:
        return tuple(self._rows)

    def show_rows(self, rows: Sequence[QWidget], *, folded: bool, folds_away: bool = True) -> None:
        """Takes the rows in place of those before."""
        for row in self._rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = list(rows)
        self._folds_away = folds_away
        for row in self._rows:
            self._column.addWidget(row)
        self.set_folded(folded)

    def set_folded(self, folded: bool) -> None:
        self._heading.setVisible(not folded)
        self.setVisible(bool(self._rows) and not (folded and self._folds_away))


class Sidebar(QFrame):
    """Attributes: `folded`. Signals: `open_asked(key)` for an object, `pin_asked(key)` to pin it or
    take it off, `person_asked(person, where)` for the menu of somebody."""

    open_asked = Signal(str)
    pin_asked = Signal(str)
    person_asked = Signal(object, QPoint)

    def __init__(
        self,
        theme: Theme,
        kinds: Kinds,
        navigation: Sequence[tuple[str, QAction]],
        tools: Sequence[Tool],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        kind(self, "side")
        self._theme = theme
        self._kinds = kinds
        self.folded = False
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._people_shown: tuple[OfficePerson, ...] = ()
        self._navigation = [action_row(theme, name, action) for name, action in navigation]
        self.pinned = Section(tr("PINNED"))
        self.recent = Section(tr("RECENT"))
        self.people = Section(tr("PEOPLE"))
        self.toolbox = Toolbox(theme, tools)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[2 * SPACE_PX] * 4)
        column.setSpacing(SPACE_PX)
        column.addWidget(self._upper_part(), 1)
        column.addWidget(line())
        column.addWidget(self.toolbox)
        self.set_folded(False)

    def _upper_part(self) -> QScrollArea:
        inside = QWidget()
        kind(inside, "clear")
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_PX // 2)
        for part in (*self._navigation, self.pinned, self.people, self.recent):
            column.addWidget(part)
        column.addStretch(1)
        area = QScrollArea()
        kind(area, "clear")
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setMinimumHeight(20 * SPACE_PX)
        area.setWidget(inside)
        return area

    def set_folded(self, folded: bool) -> None:
        """Shows icons only, or icons and words."""
        self.folded = folded
        self.setFixedWidth(_FOLDED_PX if folded else _WIDTH_PX)
        style = (
            Qt.ToolButtonStyle.ToolButtonIconOnly
            if folded
            else Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        )
        for row in self._navigation:
            row.setToolButtonStyle(style)
        for section in (self.pinned, self.recent, self.people):
            section.set_folded(folded)
        for person in self.people.rows:
            assert isinstance(person, PersonRow)
            person.folded = folded
        self.toolbox.set_folded(folded)

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """Gives the keyboard to the first row."""
        self._navigation[0].setFocus(reason)

    def show_pinned(self, pinned: Sequence[ListedObject]) -> None:
        """Takes the newest list, in the order of pinning."""
        rows = [self._object_row(entry, tr("Unpin")) for entry in pinned]
        self.pinned.show_rows(rows, folded=self.folded)

    def show_recent(self, recent: Sequence[ListedObject]) -> None:
        """Takes the newest list, latest first."""
        rows = [self._object_row(entry, tr("Pin")) for entry in recent[:RECENT_MAX]]
        self.recent.show_rows(rows, folded=self.folded)

    def show_people(self, people: Sequence[OfficePerson]) -> None:
        """Takes everybody who is online, as far as this program sees them."""
        if tuple(people) == self._people_shown:
            return
        self._people_shown = tuple(people)
        rows = [self._person_row(person) for person in people]
        self.people.show_rows(rows, folded=self.folded, folds_away=False)

    def _object_row(self, entry: ListedObject, pin_words: str) -> QToolButton:
        row = object_row(self._theme, self._kinds.picture(entry.kind), entry, _TITLE_PX)
        row.clicked.connect(lambda: self.open_asked.emit(entry.key))
        choices: list[tuple[str, Callable[[], None]]] = [
            (tr("Open"), lambda: self.open_asked.emit(entry.key)),
            (pin_words, lambda: self.pin_asked.emit(entry.key)),
        ]
        row.customContextMenuRequested.connect(
            lambda place: _pop_up(row, row.mapToGlobal(place), choices)
        )
        return row

    def _person_row(self, person: OfficePerson) -> PersonRow:
        row = PersonRow(self._theme, person)
        row.folded = self.folded
        row.clicked.connect(
            lambda: self.person_asked.emit(person, row.mapToGlobal(row.rect().bottomLeft()))
        )
        return row


def _pop_up(
    owner: QWidget, place: QPoint, choices: Sequence[tuple[str, Callable[[], None]]]
) -> None:
    menu = QMenu(owner)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for words, run in choices:
        menu.addAction(words).triggered.connect(run)
    menu.popup(place)
