"""The grid in which one works: Qt's table view with the keys of a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QTableView,
    QWidget,
)

from widgets.language import tr
from widgets.table.cell_painter import CellPainter, OtherSelection, paint_others
from widgets.table.table_model import Index, TableModel
from widgets.theme import Theme

_ROW_PX = 28
_COLUMN_PX = 110
_HEAD_PX = 30

_Press = QAbstractItemView.EditTrigger


class Grid(QTableView):
    """Attributes: `others`, what they have chosen. Signals: `toggled(index)`, `clear_asked`,
    `copy_asked`, `cut_asked`, `paste_asked`, `menu_asked(orientation, section, place)`,
    `chosen` when the selection has changed; `typed(bool)`: something stands in the editor of a cell
    that is not in the cell yet."""

    toggled = Signal(object)
    clear_asked = Signal()
    copy_asked = Signal()
    cut_asked = Signal()
    paste_asked = Signal()
    chosen = Signal()
    typed = Signal(bool)
    head_menu_asked = Signal(object, int, QPoint)

    def __init__(self, theme: Theme, model: TableModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.others: Sequence[OtherSelection] = ()
        # The column in which somebody began to go on with Tab.
        self._tabs_from: int | None = None
        self.setModel(model)
        typed = lambda: self.typed.emit(True)  # noqa: E731
        self.setItemDelegate(CellPainter(theme, model, self.toggled.emit, typed, self))
        self.setAccessibleName(tr("Cells"))
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setCornerButtonEnabled(True)
        self.setWordWrap(False)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(_Press.DoubleClicked | _Press.EditKeyPressed | _Press.AnyKeyPressed)
        self._set_up_heads()
        theme.changed.connect(self.viewport().update)

    def _set_up_heads(self) -> None:
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(_ROW_PX)
        rows.setMinimumWidth(44)
        rows.setDefaultAlignment(Qt.AlignmentFlag.AlignCenter)
        columns.setDefaultSectionSize(_COLUMN_PX)
        columns.setMinimumSectionSize(24)
        columns.setFixedHeight(_HEAD_PX)
        columns.setHighlightSections(True)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for head, orientation in (
            (rows, Qt.Orientation.Vertical),
            (columns, Qt.Orientation.Horizontal),
        ):
            head.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            head.customContextMenuRequested.connect(
                lambda place, head=head, orientation=orientation: self.head_menu_asked.emit(
                    orientation, head.logicalIndexAt(place), head.mapToGlobal(place)
                )
            )

    # What is chosen

    def area(self) -> tuple[int, int, int, int] | None:
        """First and last row, first and last column of what is chosen, taken as one rectangle."""
        selection = self.selectionModel().selection()
        ranges = [selection.at(number) for number in range(selection.count())]
        if not ranges:
            current = self.currentIndex()
            if not current.isValid():
                return None
            return current.row(), current.row(), current.column(), current.column()
        return (
            min(each.top() for each in ranges),
            max(each.bottom() for each in ranges),
            min(each.left() for each in ranges),
            max(each.right() for each in ranges),
        )

    def choose(self, top: int, left: int, bottom: int, right: int) -> None:
        """Chooses a rectangle, the cell at its start being the current one."""
        model = self.model()
        first = model.index(top, left)
        self.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.selectionModel().select(
            QItemSelection(first, model.index(bottom, right)),
            QItemSelectionModel.SelectionFlag.ClearAndSelect,
        )

    def step(self, rows: int, columns: int) -> None:
        """Goes to a neighbour of the current cell."""
        current = self.currentIndex()
        row = min(max(0, current.row() + rows), self.model().rowCount() - 1)
        column = min(max(0, current.column() + columns), self.model().columnCount() - 1)
        self.go(row, column)

    def _next_row(self, rows: int) -> None:
        """Whoever has written a row with Tab goes on below its beginning."""
        column, self._tabs_from = self._tabs_from, None
        here = self.currentIndex().column()
        self.step(rows, 0 if column is None else column - here)

    def go(self, row: int, column: int) -> None:
        """Chooses one cell."""
        self.choose(row, column, row, column)

    def finish_typing(self) -> None:
        """Puts what stands in the editor of a cell into the cell."""
        editor = self.viewport().findChild(QLineEdit)
        if self.state() is QTableView.State.EditingState and editor is not None:
            self.commitData(editor)
            self.closeEditor(editor, QAbstractItemDelegate.EndEditHint.NoHint)

    # Qt

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.chosen.emit()

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.chosen.emit()

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        """Qt paints everything anew for every change; what is out of sight need not be."""
        top, bottom = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        bottom = self.model().rowCount() if bottom < 0 else bottom
        if first.row() <= bottom and last.row() >= top:
            super().dataChanged(first, last, list(roles))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.state() is QTableView.State.EditingState:
            return  # what the editor leaves over is not meant for the grid
        plain = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        )
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
        elif event.matches(QKeySequence.StandardKey.Cut):
            self.cut_asked.emit()
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste_asked.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and plain:
            self.clear_asked.emit()
        elif event.key() == Qt.Key.Key_Space and plain and self._is_check():
            self.toggled.emit(self.currentIndex())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._next_row(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)

    def _is_check(self) -> bool:
        model = self.model()
        assert isinstance(model, TableModel)
        return model.check(self.currentIndex()) is not None

    def closeEditor(self, editor: QWidget, hint: QAbstractItemDelegate.EndEditHint) -> None:
        """After Enter in a cell the one below is next, or the beginning of the next row."""
        super().closeEditor(editor, hint)
        self.typed.emit(False)
        if hint is QAbstractItemDelegate.EndEditHint.SubmitModelCache:
            self._next_row(1)

    def moveCursor(self, action: QTableView.CursorAction, keys: Qt.KeyboardModifier) -> QModelIndex:
        if action is not QTableView.CursorAction.MoveNext:
            self._tabs_from = None
        elif self._tabs_from is None:
            self._tabs_from = self.currentIndex().column()
        return super().moveCursor(action, keys)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._tabs_from = None
        super().mousePressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        paint_others(painter, self._theme, self, self.others)
        painter.setPen(QPen(self._theme.colour("accent"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.visualRect(self.currentIndex()).adjusted(0, 0, -1, -1))
        painter.end()
        model = self.model()
        assert isinstance(model, TableModel)
        if model.content.unfinished:
            # Formulas that did not get their value in this frame go on in the next one.
            QTimer.singleShot(0, self.viewport(), self.viewport().update)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            model = self.model()
            assert isinstance(model, TableModel)
            model.content.begin_turn()
        return super().viewportEvent(event)
