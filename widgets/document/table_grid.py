"""A table in a document: cells that several people write in, rows and columns that come and go."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextCursor,
)
from PySide6.QtWidgets import QMenu, QWidget

from liveobj.channels.presence import Presence
from liveobj.documents import DocumentError
from liveobj.objects.rich_document import RichBody
from liveobj.richtext.embeds import Cell, cell_container
from widgets.document.embed_layer import Shown
from widgets.document.formatted_edit import Writing
from widgets.document.rich_editor import RichEditor
from widgets.document.table_layout import PADDING_PX, Place, TableLayout
from widgets.language import tr
from widgets.theme import Theme


class CellEditor(RichEditor):
    """Writes in one cell. Signals: `left(step)`: to the next cell (1), the former (-1), out (0)."""

    left = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit(0)
        elif event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.left.emit(-1 if shift or event.key() == Qt.Key.Key_Backtab else 1)
        else:
            super().keyPressEvent(event)


class TableGrid(QWidget):
    """Shows and edits one table.

    Signals: `size_changed`; `entered(editor)` and `left_table` as a cell is begun and left;
    `said(sentence)` for what was refused.
    """

    size_changed = Signal()
    entered = Signal(QWidget)
    left_table = Signal()
    said = Signal(str)

    def __init__(
        self,
        theme: Theme,
        body: RichBody,
        presence: Presence,
        name: str,
        layout: TableLayout,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._body = body
        self._presence = presence
        self._name = name
        self._layout = layout
        self._editor: CellEditor | None = None
        self._place: Place | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Table"))
        self._subscription = presence.observe(lambda _presence: self.update())

    def close_grid(self) -> None:
        self._subscription.close()
        self.stop_editing()

    @property
    def place(self) -> Place | None:
        """The cell that is being written in."""
        return self._place

    @property
    def editor(self) -> CellEditor | None:
        return self._editor

    @property
    def is_edited(self) -> bool:
        return self._editor is not None

    # Cells

    def edit(self, place: Place, at: QPointF | None = None) -> None:
        """Begins to write in a cell."""
        self.stop_editing()
        text = self._layout.text(place)
        cell = self._layout.cell(place)
        writing = Writing(self._body.document, text.text, self._presence, text)
        editor = CellEditor(
            self._theme, writing, cell_container(self._name, cell), compact=True, parent=self
        )
        editor.setAccessibleName(tr("Cell"))
        editor.left.connect(self._on_left)
        editor.document().setDocumentMargin(0)
        editor.document().contentsChanged.connect(self._on_words)
        self._editor, self._place = editor, place
        self._place_editor()
        editor.show()
        editor.setFocus()
        if at is None:
            editor.moveCursor(QTextCursor.MoveOperation.End)
        else:
            editor.setTextCursor(editor.cursorForPosition((at - editor.pos().toPointF()).toPoint()))
        self.entered.emit(editor)
        self.update()

    def edit_cell(self, cell: Cell) -> bool:
        """Begins to write in a cell, if it is not gone and one is not in it already."""
        place = self._layout.place_of(cell)
        if place is not None and place != self._place:
            self.edit(place)
        return place is not None

    def cell_rect(self) -> QRect:
        """Where the cell is that is being written in."""
        if self._place is None:
            return QRect()
        return self._layout.rect(self._place).toAlignedRect()

    def stop_editing(self) -> None:
        if self._editor is None:
            return
        editor, self._editor, self._place = self._editor, None, None
        editor.close_view()
        editor.hide()
        editor.deleteLater()
        self.left_table.emit()
        self.update()

    def _on_words(self) -> None:
        self.renew()

    def _on_left(self, step: int) -> None:
        place = self._place
        if place is None:
            return
        if step == 0:
            self.stop_editing()
            return
        columns = len(self._layout.columns)
        number = place.row * columns + place.column + step
        if number < 0:
            return
        if number >= columns * len(self._layout.rows):
            if not self._body.document.editable:
                return
            self.add_row(len(self._layout.rows))
        self.edit(Place(number // columns, number % columns))

    def renew(self) -> None:
        """Reads again; the cell that is written in stays, wherever it is now."""
        cell = None
        if self._place is not None and self._editor is not None:
            rows, columns = self._layout.rows, self._layout.columns
            inside = self._place.row < len(rows) and self._place.column < len(columns)
            cell = self._layout.cell(self._place) if inside else None
        before = self._layout.size(float(self.width()))
        self._layout.renew()
        if self._editor is not None:
            place = None if cell is None else self._layout.place_of(cell)
            if place is None:
                self.stop_editing()
            else:
                self._place = place
        if self._layout.size(float(self.width())) != before:
            self.size_changed.emit()
        self._place_editor()
        self.update()

    def _place_editor(self) -> None:
        if self._editor is not None and self._place is not None:
            rect = self._layout.rect(self._place).adjusted(PADDING_PX, PADDING_PX, -2, -2)
            self._editor.setGeometry(rect.toAlignedRect())

    # Rows and columns

    def add_row(self, index: int) -> None:
        self._change(lambda: self._layout.parts.add_row(index, self._body.embeds.new_name()))

    def add_column(self, index: int) -> None:
        self._change(lambda: self._layout.parts.add_column(index, self._body.embeds.new_name()))

    def remove_row(self, index: int) -> None:
        if len(self._layout.rows) > 1:
            self._change(lambda: self._layout.parts.remove_row(self._layout.rows[index]))

    def remove_column(self, index: int) -> None:
        if len(self._layout.columns) > 1:
            self._change(lambda: self._layout.parts.remove_column(self._layout.columns[index]))

    def toggle_header(self) -> None:
        self._change(lambda: self._body.embeds.set_header(self._name, not self._layout.header))

    def _change(self, edit: Callable[[], None]) -> None:
        try:
            self._body.document.undo_boundary()
            with self._body.document.transaction("table"):
                edit()
        except DocumentError as problem:
            self.said.emit(str(problem))
        self.renew()

    def menu_at(self, place: Place) -> QMenu:
        """What can be done with the rows and columns around a cell."""
        menu = QMenu(self)
        for words, run in (
            (tr("Add row above"), lambda: self.add_row(place.row)),
            (tr("Add row below"), lambda: self.add_row(place.row + 1)),
            (tr("Remove row"), lambda: self.remove_row(place.row)),
            (tr("Add column before"), lambda: self.add_column(place.column)),
            (tr("Add column after"), lambda: self.add_column(place.column + 1)),
            (tr("Remove column"), lambda: self.remove_column(place.column)),
            (tr("First row is a heading"), self.toggle_header),
        ):
            action = menu.addAction(words)
            action.triggered.connect(lambda _checked=False, run=run: run())
        header = menu.actions()[-1]
        header.setCheckable(True)
        header.setChecked(self._layout.header)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu

    # Qt

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.FocusIn and self._editor is None and self._layout.rows:
            self.edit(Place(0, 0))
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._layout.at(event.position())
        if place is not None and event.button() is Qt.MouseButton.LeftButton:
            self.edit(place, event.position())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        place = self._layout.at(QPointF(event.pos()))
        if place is not None and self._body.document.editable:
            self.menu_at(place).popup(event.globalPos())

    def resizeEvent(self, _event: object) -> None:
        self._layout.size(float(self.width()))
        self._place_editor()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._layout.size(float(self.width()))
        painter.fillRect(self.rect(), self._theme.colour("raised"))
        self._layout.paint(painter, self._place)
        self._paint_people(painter)
        if self._place is not None:
            painter.setPen(QPen(self._theme.colour("accent"), 2))
            painter.drawRect(self._layout.rect(self._place).adjusted(1, 1, -1, -1))

    def _paint_people(self, painter: QPainter) -> None:
        """A frame around each cell that somebody else writes in, with the first letter of them."""
        for entry in self._presence.others.values():
            if entry.caret is None:
                continue
            place = self._place_named(entry.caret.container)
            if place is None or place == self._place:
                continue
            colour = self._theme.person_colour(entry.colour)
            rect = self._layout.rect(place).adjusted(1, 1, -1, -1)
            painter.setPen(QPen(colour, 2))
            painter.drawRect(rect)
            flag = QRectF(rect.right() - 16, rect.top(), 16, 16)
            painter.fillRect(flag, colour)
            painter.setPen(self._theme.colour("raised"))
            letter = entry.name.strip()[:1].upper() or "?"
            painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, letter)

    def _place_named(self, container: str) -> Place | None:
        start = f"cell.{self._name}."
        if not container.startswith(start):
            return None
        for row in range(len(self._layout.rows)):
            for column in range(len(self._layout.columns)):
                place = Place(row, column)
                if cell_container(self._name, self._layout.cell(place)) == container:
                    return place
        return None


class ShownTable(Shown):
    """A table in the text. `made` is told of each grid that is made."""

    def __init__(
        self,
        theme: Theme,
        body: RichBody,
        presence: Presence,
        name: str,
        made: Callable[[TableGrid, str], None],
    ) -> None:
        self._theme = theme
        self._body = body
        self._presence = presence
        self._name = name
        self._made = made
        self._layout = TableLayout(theme, body.embeds, name)
        theme.changed.connect(self._on_theme)

    def size(self, width_px: float) -> QSizeF:
        return self._layout.size(width_px)

    def renew(self) -> bool:
        if self.widget is not None:
            assert isinstance(self.widget, TableGrid), "made below"
            self.widget.renew()
        else:
            self._layout.renew()
        return True

    def show_in(self, parent: QWidget) -> None:
        if self.widget is None:
            grid = TableGrid(
                self._theme, self._body, self._presence, self._name, self._layout, parent
            )
            self.widget = grid
            self._made(grid, self._name)

    def put_away(self) -> None:
        grid = self.widget
        if isinstance(grid, TableGrid) and not grid.is_edited:
            self._drop(grid)

    def close(self) -> None:
        self._theme.changed.disconnect(self._on_theme)
        if isinstance(self.widget, TableGrid):
            self._drop(self.widget)
        self._layout.close()

    def _drop(self, grid: TableGrid) -> None:
        grid.close_grid()
        grid.hide()
        grid.deleteLater()
        self.widget = None

    def _on_theme(self) -> None:
        self._layout.forget_look()
        if self.widget is not None:
            self.widget.update()
