"""Every command of the program by a few letters, and every object that has them in it: a field and
a list that float over the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QVBoxLayout, QWidget
from shiboken6 import isValid

from widgets.language import tr
from widgets.look import SPACE_PX, float_above, kind, label, line
from widgets.palette_rows import ENTRY_ROLE, ROW_PX, Command, FoundObject, PaletteRows
from widgets.theme import Theme

_ROWS_MAX = 10
_WIDTH_PX = 620

Search = Callable[[str], Sequence[FoundObject]]
# How long the person has stopped typing before objects are searched, too.
_SEARCH_AFTER_MS = 60
# A command whose letters fit as well as this is above all objects.
_GOOD_SCORE = 2


def match_score(query: str, title: str) -> int | None:
    """How well the letters of the query fit, in their order: smaller is better, None is not at all.

    Letters at the beginnings of words cost nothing, so "nn" finds "New note" first.
    """
    wanted, text = query.casefold().replace(" ", ""), title.casefold()
    score, at = 0, 0
    for letter in wanted:
        starts = [
            index
            for index in range(at, len(text))
            if text[index] == letter and (index == 0 or not text[index - 1].isalnum())
        ]
        found = text.find(letter, at)
        if found < 0:
            return None
        follows = found == at and at > 0
        chosen = found if follows or not starts else starts[0]
        score += 0 if follows or chosen in starts else 1 + chosen - at
        at = chosen + 1
    return score


class CommandPalette(QFrame):
    """Opens over `window` with the commands that `commands()` gives at that moment; `search` gives
    the objects for some letters, or the latest ones for none.

    Signals: `chosen(identity)` of a command and `object_chosen(key)`, after it has closed.
    """

    chosen = Signal(str)
    object_chosen = Signal(str)

    def __init__(
        self,
        theme: Theme,
        commands: Callable[[], Sequence[Command]],
        window: QWidget,
        search: Search = lambda _query: (),
    ) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._commands = commands
        self._search = search
        self._all: Sequence[Command] = ()
        self._found: Sequence[FoundObject] = ()
        self._searching = QTimer(self)
        self._searching.setSingleShot(True)
        self._searching.timeout.connect(self.search_now)
        kind(self, "float")
        self._field = QLineEdit()
        kind(self._field, "palette")
        self._field.setPlaceholderText(tr("What would you like to do or find?"))
        self._field.setAccessibleName(tr("Search or command"))
        self._field.textChanged.connect(self._on_text)
        self._field.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self._list = QListView()
        self._list.setModel(self._model)
        self._list.setItemDelegate(PaletteRows(theme, self._list))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.setMouseTracking(True)
        self._list.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._list.entered.connect(self._list.setCurrentIndex)
        self._list.clicked.connect(self._choose)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[2 * SPACE_PX] * 4)
        column.setSpacing(SPACE_PX)
        column.addWidget(self._field)
        column.addWidget(line())
        column.addWidget(self._list)
        self._nothing = label("", "muted", wrap=True)
        self._nothing.setContentsMargins(2 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX)
        column.addWidget(self._nothing)
        self._before: QWidget | None = None
        window.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Shows the palette, empty, with the keyboard in it; afterwards that is where it was."""
        self._before = self._window.focusWidget()
        self._all = self._commands()
        self._field.clear()
        self.search_now()
        float_above(self, self._theme)
        self._place()
        self.show()
        self.raise_()
        self._field.setFocus()

    def shown_titles(self) -> list[str]:
        """What the list shows, from top to bottom."""
        rows = range(self._model.rowCount())
        return [self._entry(self._model.index(row, 0)).title for row in rows]

    def search_now(self) -> None:
        """Searches objects for what is in the field, without waiting for more letters."""
        self._searching.stop()
        self._found = self._search(self._field.text().strip())
        self._show()

    def _on_text(self, _text: str) -> None:
        self._searching.start(_SEARCH_AFTER_MS)
        self._show()

    def _show(self) -> None:
        self._model.clear()
        for entry in self._entries(self._field.text()):
            item = QStandardItem(entry.title)
            item.setData(entry, ENTRY_ROLE)
            item.setAccessibleText(entry.spoken)
            self._model.appendRow(item)
        self._list.setCurrentIndex(self._model.index(0, 0))
        found = self._model.rowCount() > 0
        self._list.setVisible(found)
        self._nothing.setVisible(not found)
        words = self._field.text().strip()
        self._nothing.setText("" if found else tr("Nothing fits “{words}”.", words=words))
        self._place()

    def _entries(self, query: str) -> list[Command | FoundObject]:
        scored = [(match_score(query, command.title), command) for command in self._all]
        fitting = [(score, command) for score, command in scored if score is not None]
        begin = query.strip().casefold()

        def rank(entry: tuple[int, Command]) -> tuple[bool, int, bool]:
            score, command = entry
            return bool(command.reason), score, not command.title.casefold().startswith(begin)

        fitting.sort(key=rank)
        good = [
            command
            for score, command in fitting
            if query.strip() and score <= _GOOD_SCORE and not command.reason
        ]
        rest = [command for _, command in fitting if command not in good]
        return [*good, *self._found, *rest]

    def _choose(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        entry = self._entry(index)
        if isinstance(entry, Command) and entry.reason:
            return
        self.close()
        self._give_focus_back()
        if isinstance(entry, FoundObject):
            self.object_chosen.emit(entry.key)
        else:
            self.chosen.emit(entry.identity)

    def _entry(self, index: QModelIndex) -> Command | FoundObject:
        entry = index.data(ENTRY_ROLE)
        assert isinstance(entry, Command | FoundObject)
        return entry

    def _place(self) -> None:
        rows = max(1, min(self._model.rowCount(), _ROWS_MAX))
        self._list.setFixedHeight(rows * ROW_PX)
        self.setFixedWidth(min(_WIDTH_PX, self._window.width() - 8 * SPACE_PX))
        self.adjustSize()
        self.move((self._window.width() - self.width()) // 2, 13 * SPACE_PX)

    def _give_focus_back(self) -> None:
        """To where one was before the palette was opened, if that is still there."""
        before, self._before = self._before, None
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus()
        else:
            self._window.setFocus()

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        if watched is self._field:
            if event.type() is QEvent.Type.FocusOut and self.isVisible():
                self.close()
            elif event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
                return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            self._give_focus_back()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self._list.currentIndex())
        elif event.key() in steps and self._model.rowCount():
            row = self._list.currentIndex().row() + steps[Qt.Key(event.key())]
            self._list.setCurrentIndex(self._model.index(row % self._model.rowCount(), 0))
        else:
            return False
        return True
