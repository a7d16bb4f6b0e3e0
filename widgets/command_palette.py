"""Every command of the program by a few letters: a field and a list that float over the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from widgets import fonts
from widgets.look import SPACE_PX, float_above, kind, line
from widgets.theme import Theme

_ROW_PX = 36
_ROWS_MAX = 9
_WIDTH_PX = 560
_COMMAND_ROLE = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Command:
    """One entry; `reason` says why it cannot be done now, or is empty."""

    identity: str
    title: str
    shortcut: str
    reason: str = ""


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
    """Opens over `window` with the commands that `commands()` gives at that moment.

    Signals: `chosen(identity)` after it has closed.
    """

    chosen = Signal(str)

    def __init__(
        self, theme: Theme, commands: Callable[[], Sequence[Command]], window: QWidget
    ) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._commands = commands
        self._all: Sequence[Command] = ()
        kind(self, "float")
        self._field = QLineEdit()
        kind(self._field, "palette")
        self._field.setPlaceholderText("What would you like to do?")
        self._field.setAccessibleName("Search or command")
        self._field.textChanged.connect(self._filter)
        self._field.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self._list = QListView()
        self._list.setModel(self._model)
        self._list.setItemDelegate(_CommandDelegate(theme, self._list))
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
        window.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Shows the palette, empty, with the keyboard in it."""
        self._all = self._commands()
        self._field.clear()
        self._filter("")
        float_above(self, self._theme)
        self._place()
        self.show()
        self.raise_()
        self._field.setFocus()

    def shown_titles(self) -> list[str]:
        """What the list shows, from top to bottom."""
        rows = range(self._model.rowCount())
        return [self._command(self._model.index(row, 0)).title for row in rows]

    def _filter(self, query: str) -> None:
        scored = [(match_score(query, command.title), command) for command in self._all]
        fitting = [(score, command) for score, command in scored if score is not None]
        fitting.sort(key=lambda entry: (bool(entry[1].reason), entry[0]))
        self._model.clear()
        for _, command in fitting:
            item = QStandardItem(command.title)
            item.setData(command, _COMMAND_ROLE)
            self._model.appendRow(item)
        self._list.setCurrentIndex(self._model.index(0, 0))
        self._place()

    def _choose(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        command = self._command(index)
        if command.reason:
            return
        self.close()
        self.chosen.emit(command.identity)

    def _command(self, index: QModelIndex) -> Command:
        command = index.data(_COMMAND_ROLE)
        assert isinstance(command, Command)
        return command

    def _place(self) -> None:
        rows = max(1, min(self._model.rowCount(), _ROWS_MAX))
        self._list.setFixedHeight(rows * _ROW_PX)
        self.setFixedWidth(min(_WIDTH_PX, self._window.width() - 8 * SPACE_PX))
        self.adjustSize()
        self.move((self._window.width() - self.width()) // 2, 13 * SPACE_PX)

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
            self._window.setFocus()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self._list.currentIndex())
        elif event.key() in steps and self._model.rowCount():
            row = self._list.currentIndex().row() + steps[Qt.Key(event.key())]
            self._list.setCurrentIndex(self._model.index(row % self._model.rowCount(), 0))
        else:
            return False
        return True


class _CommandDelegate(QStyledItemDelegate):
    """Draws a command: its title, and at the right its keys or why it cannot be done."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(
        self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(0, _ROW_PX)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        command: Command = index.data(_COMMAND_ROLE)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.colour("hover" if command.reason else "selection"))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 6, 6)
        inner = rect.adjusted(3 * SPACE_PX, 0, -3 * SPACE_PX, 0)
        painter.setFont(fonts.font(fonts.Size.BASE, fonts.Weight.MEDIUM))
        painter.setPen(self._theme.colour("muted" if command.reason else "text"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignLeft, command.title)
        painter.setFont(fonts.font(fonts.Size.SMALL))
        painter.setPen(self._theme.colour("muted"))
        right = command.reason or command.shortcut
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, right)
        painter.restore()
