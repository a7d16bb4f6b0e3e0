"""A table as Qt's views want it: rows in one's own order, and empty ones below to write into."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QDate,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from liveobj.documents import DocumentError
from liveobj.formulas.addresses import column_letters
from liveobj.formulas.errors import CellError
from liveobj.formulas.values import Value, number_of, shown
from liveobj.objects.table import ColumnType, Table
from liveobj.objects.table_content import TableChange
from widgets.language import tr
from widgets.table.alignment import steps_between

ROWS_MIN = 24
COLUMNS_MIN = 8
_SPARE_ROWS = 8
_SPARE_COLUMNS = 1

Index = QModelIndex | QPersistentModelIndex
_Role = Qt.ItemDataRole
_ANSWERED = frozenset(
    int(role)
    for role in (
        _Role.DisplayRole,
        _Role.EditRole,
        _Role.ToolTipRole,
        _Role.AccessibleTextRole,
    )
)


class TableModel(QAbstractTableModel):
    """Attributes: `table`, `content`, `rows` and `columns` as they are shown. Rows and columns
    beyond them are spare: they come into being when something is written there."""

    def __init__(self, table: Table, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = table
        self.content = table.content
        self.rows: list[str] = list(self.content.rows)
        self.columns: list[str] = list(self.content.columns)
        self._spare_rows = max(_SPARE_ROWS, ROWS_MIN - len(self.rows))
        self._spare_columns = max(_SPARE_COLUMNS, COLUMNS_MIN - len(self.columns))
        # One's own order or choice of rows: there are no spare ones while only some are shown.
        self.filtered = False
        self._row_places: dict[str, int] | None = None

    # Which cell

    def cell(self, index: Index) -> tuple[str, str] | None:
        """Row and column of a cell; None for a spare one."""
        if 0 <= index.row() < len(self.rows) and 0 <= index.column() < len(self.columns):
            return self.rows[index.row()], self.columns[index.column()]
        return None

    def index_of(self, row: str, column: str) -> QModelIndex:
        """Where a cell is shown; invalid if it is not."""
        if self._row_places is None:
            self._row_places = {each: at for at, each in enumerate(self.rows)}
        at = self._row_places.get(row)
        if at is None or column not in self.columns:
            return QModelIndex()
        return self.index(at, self.columns.index(column))

    def spare_number(self, index: Index) -> tuple[int, int]:
        """The numbers that a spare cell has in the table, where others can find it."""
        below = max(0, index.row() - len(self.rows))
        return len(self.content.rows) + below, index.column()

    def spare_index(self, row: int, column: int) -> QModelIndex:
        """Where the cell of such numbers is shown."""
        if row < len(self.content.rows) or not 0 <= column < self.columnCount():
            return QModelIndex()
        return self.index(row - len(self.content.rows) + len(self.rows), column)

    def bring_into_being(self, rows: int, columns: int) -> None:
        """Makes real what is spare so far, up to so many shown rows and columns."""
        more_rows = max(0, rows - len(self.rows))
        wanted = len(self.content.rows) + more_rows
        if more_rows or columns > len(self.columns):
            self.table.grow(wanted, max(columns, len(self.columns)), undoable=False)
            # Unless this is inside a transaction, the view has heard of them already.
            shown_rows = set(self.rows)
            new = [row for row in self.content.rows[wanted - more_rows :] if row not in shown_rows]
            self.show_structure([*self.rows, *new] if more_rows else self.rows)

    def write(self, cells: dict[tuple[int, int], str], label: str) -> None:
        """Writes texts at shown rows and columns; raises DocumentError."""
        if not cells:
            return
        self.bring_into_being(max(r for r, _ in cells) + 1, max(c for _, c in cells) + 1)
        names = {(self.rows[r], self.columns[c]): text for (r, c), text in cells.items()}
        self.write_named(names, label)

    def write_named(self, cells: dict[tuple[str, str], str], label: str) -> None:
        """The same for real cells, which need not be shown."""
        self.table.document.undo_boundary()
        kept = {(row, column): self._as_kept(column, text) for (row, column), text in cells.items()}
        with self.table.document.transaction(label):
            self.table.write(kept, label)

    def _as_kept(self, column: str, text: str) -> str:
        """Dates are kept in the one form that sorts."""
        if self.content.column_type(column) == ColumnType.DATE and not text.startswith("="):
            found = QLocale().toDate(text.strip(), QLocale.FormatType.ShortFormat)
            if found.isValid():
                return str(found.toString(Qt.DateFormat.ISODate))
        return text

    # Changes

    def show_structure(self, rows: Sequence[str]) -> None:
        """Takes rows in the order in which they are to be shown, and columns as they are."""
        self._row_places = None
        self._show_rows(list(rows))
        self._row_places = None
        self._show_columns(list(self.content.columns))

    def _show_rows(self, new: list[str]) -> None:
        nowhere = QModelIndex()
        steps = steps_between(self.rows, new)
        for at, count in steps.removed:
            self.beginRemoveRows(nowhere, at, at + count - 1)
            del self.rows[at : at + count]
            self.endRemoveRows()
        if steps.arranged is not None:
            self._arrange(self.rows, list(steps.arranged), by_row=True)
        for at, items in steps.inserted:
            if at == len(self.rows) and len(items) <= self._spare_rows:
                self.rows += items
                self._spare_rows -= len(items)
                self._tell_rows(at, at + len(items) - 1)
                continue
            self.beginInsertRows(nowhere, at, at + len(items) - 1)
            self.rows[at:at] = items
            self.endInsertRows()
        spare = 0 if self.filtered else max(_SPARE_ROWS, ROWS_MIN - len(self.rows))
        count = self.rowCount()
        if spare > self._spare_rows:
            self.beginInsertRows(nowhere, count, count + spare - self._spare_rows - 1)
            self._spare_rows = spare
            self.endInsertRows()
        elif spare < self._spare_rows:
            self.beginRemoveRows(nowhere, count - (self._spare_rows - spare), count - 1)
            self._spare_rows = spare
            self.endRemoveRows()

    def _show_columns(self, new: list[str]) -> None:
        nowhere = QModelIndex()
        steps = steps_between(self.columns, new)
        for at, count in steps.removed:
            self.beginRemoveColumns(nowhere, at, at + count - 1)
            del self.columns[at : at + count]
            self.endRemoveColumns()
        if steps.arranged is not None:
            self._arrange(self.columns, list(steps.arranged), by_row=False)
        for at, items in steps.inserted:
            if at == len(self.columns) and len(items) <= self._spare_columns:
                self.columns += items
                self._spare_columns -= len(items)
                continue
            self.beginInsertColumns(nowhere, at, at + len(items) - 1)
            self.columns[at:at] = items
            self.endInsertColumns()
        spare = max(_SPARE_COLUMNS, COLUMNS_MIN - len(self.columns))
        count = self.columnCount()
        if spare > self._spare_columns:
            self.beginInsertColumns(nowhere, count, count + spare - self._spare_columns - 1)
            self._spare_columns = spare
            self.endInsertColumns()
        elif spare < self._spare_columns:
            self.beginRemoveColumns(nowhere, count - (self._spare_columns - spare), count - 1)
            self._spare_columns = spare
            self.endRemoveColumns()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)

    def _arrange(self, items: list[str], new: list[str], *, by_row: bool) -> None:
        """Another order of the same; what is selected goes with its row or column."""
        self.layoutAboutToBeChanged.emit()
        place = {item: at for at, item in enumerate(new)}
        old_indexes = self.persistentIndexList()
        moved = []
        for index in old_indexes:
            at = index.row() if by_row else index.column()
            to = place[items[at]] if at < len(items) else at
            moved.append(self.index(to, index.column()) if by_row else self.index(index.row(), to))
        items[:] = new
        self.changePersistentIndexList(old_indexes, moved)
        self.layoutChanged.emit()

    def _tell_rows(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, self.columnCount() - 1))
        self.headerDataChanged.emit(Qt.Orientation.Vertical, first, last)

    def show_cells(self, change: TableChange) -> None:
        """Tells which cells are new: the rectangle around them, or everything if there are
        formulas, since any could have another value then."""
        if self.content.has_formulas:
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return
        found = [self.index_of(row, column) for row, column in change.cells]
        rows = [index.row() for index in found if index.isValid()]
        columns = [index.column() for index in found if index.isValid()]
        if rows:
            first = self.index(min(rows), min(columns))
            self.dataChanged.emit(first, self.index(max(rows), max(columns)))

    # Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows) + self._spare_rows

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.columns) + self._spare_columns

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if self.table.document.editable and self.check(index) is None:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        if role not in _ANSWERED:
            return None  # most of what a view asks for; nothing need be looked up for that
        cell = self.cell(index)
        if cell is None:
            return None
        if role == _Role.EditRole:
            return self.table.as_typed(*cell)
        if role in (_Role.DisplayRole, _Role.AccessibleTextRole):
            return self.shown_text(*cell)
        if role == _Role.ToolTipRole:
            value = self.content.value(*cell)
            return tr(value.sentence) if isinstance(value, CellError) else None
        return None

    def look(self, row: str, column: str) -> tuple[str, str, Qt.AlignmentFlag]:
        """Words, role of their colour, and side of a cell: all that is painted of it."""
        value = self.content.value(row, column)
        words = self._words(row, column, value)
        if isinstance(value, CellError):
            return words, "danger", Qt.AlignmentFlag.AlignLeft
        if isinstance(value, bool):
            return words, "text", Qt.AlignmentFlag.AlignHCenter
        right = isinstance(value, float)
        return words, "text", Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft

    def shown_text(self, row: str, column: str) -> str:
        """A cell as it is read; texts stay as they were typed."""
        return self._words(row, column, self.content.value(row, column))

    def _words(self, row: str, column: str, value: Value) -> str:
        kind = self.content.column_type(column)
        text = self.content.text(row, column)
        if text.startswith("="):
            text = shown(value)
        if kind == ColumnType.DATE:
            return _shown_date(text)
        if kind == ColumnType.NUMBER and isinstance(value, float):
            return _shown_number(value)
        return text

    def plain_text(self, row: str, column: str) -> str:
        """A cell as it is searched: its text, or the value of its formula."""
        text = self.content.text(row, column)
        return shown(self.content.value(row, column)) if text.startswith("=") else text

    def check(self, index: Index) -> bool | None:
        """Whether a cell of a column of checks is ticked; None for other cells."""
        cell = self.cell(index)
        if cell is None or self.content.column_type(cell[1]) != ColumnType.CHECK:
            return None
        return is_true(self.content.value(*cell))

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:
        if role != _Role.EditRole or not isinstance(value, str):
            return False
        cell = self.cell(index)
        if value == (self.table.as_typed(*cell) if cell is not None else ""):
            return False
        try:
            self.write({(index.row(), index.column()): value}, "write")
        except DocumentError:
            return False
        return True

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Vertical:
            return self._row_head(section) if role == _Role.DisplayRole else None
        letters = column_letters(section)
        name = (
            self.content.column_name(self.columns[section]) if section < len(self.columns) else ""
        )
        if role in (_Role.DisplayRole, _Role.AccessibleTextRole):
            return f"{letters}  {name}" if name else letters
        if role == _Role.ToolTipRole:
            return tr("Column {letters}: {name}", letters=letters, name=name) if name else None
        return None

    def _row_head(self, section: int) -> str:
        if section < len(self.rows):
            number = self.content.row_number(self.rows[section])
            return "" if number is None else str(number + 1)
        return str(len(self.content.rows) + section - len(self.rows) + 1)


def is_true(value: Value) -> bool:
    """How a column of checks reads what is in a cell."""
    if isinstance(value, str):
        return value.strip().lower() in ("yes", "x", "true", "✓", "✔")
    return value is not None and not isinstance(value, CellError) and bool(value)


def _shown_date(text: str) -> str:
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return text
    if QLocale().language() is QLocale.Language.C:
        return day.isoformat()
    shown_day: str = QLocale().toString(
        QDate(day.year, day.month, day.day), QLocale.FormatType.ShortFormat
    )
    return shown_day


def _shown_number(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        words: str = QLocale().toString(int(value))
        return words
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        return shown(value)
    digits = len(f"{abs(value):.6f}".rstrip("0").partition(".")[2])
    many: str = QLocale().toString(value, "f", max(1, digits))
    return many


def sort_key(value: Value) -> tuple[int, float, str]:
    """Numbers, then texts, then truths; blanks and errors last."""
    if isinstance(value, bool):
        return 2, float(value), ""
    if isinstance(value, float):
        return 0, value, ""
    if isinstance(value, str):
        return 1, 0.0, value.lower()
    return (4, 0.0, "") if value is None else (3, 0.0, value.value)


def matches(words: str, text: str) -> bool:
    """Whether a cell passes a filter: `>5`, `<= 3`, `=x`, or a part of its text."""
    for sign in (">=", "<=", ">", "<", "="):
        if words.startswith(sign):
            wanted, found = number_of(words[len(sign) :]), number_of(text)
            if wanted is None or found is None:
                return sign == "=" and text.strip().lower() == words[1:].strip().lower()
            return {
                ">=": found >= wanted,
                "<=": found <= wanted,
                ">": found > wanted,
                "<": found < wanted,
                "=": found == wanted,
            }[sign]
    return words.lower() in text.lower()
