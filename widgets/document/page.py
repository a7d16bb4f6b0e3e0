"""A document on the screen, as it is now or as it was: its editor with all that is embedded."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from liveobj.channels.presence import Presence
from liveobj.objects.rich_document import TEXT_NAME, RichBody
from liveobj.richtext.embeds import IMAGE, OBJECT, TABLE, Cell, cell_container
from liveobj.richtext.rich_text import RichText
from widgets.document.embed_layer import EmbedLayer, Shown
from widgets.document.formatted_edit import Writing
from widgets.document.images import ImageFrame, ShownImage
from widgets.document.object_card import ShownObject
from widgets.document.rich_editor import RichEditor
from widgets.document.table_grid import ShownTable, TableGrid
from widgets.inner_text import InnerText
from widgets.language import tr
from widgets.object_view import Surroundings


class DocumentPage(RichEditor):
    """Attributes: `body`, `embeds` (the layer of what is embedded), `cell` (the editor of the cell
    that is being written in, or None). `when_cell` is called when that changes."""

    def __init__(
        self,
        around: Surroundings,
        body: RichBody,
        presence: Presence,
        parent: QWidget | None = None,
    ) -> None:
        writing = Writing(body.document, body.text, presence, body.rich)
        self.body = body
        self._around = around
        self._people = presence
        self.cell: RichEditor | None = None
        self.grid: TableGrid | None = None
        self.when_cell: Callable[[], None] = lambda: None
        super().__init__(around.theme, writing, TEXT_NAME, parent=parent)
        self.embeds = EmbedLayer(
            self,
            body,
            {IMAGE: self._show_image, TABLE: self._show_table, OBJECT: self._show_object},
            around.theme,
        )
        self._frame_of_image = ImageFrame(around.theme, self.viewport())
        self._frame_of_image.dragged.connect(self._preview_image)
        self._frame_of_image.resized.connect(self._resize_image)
        self._image: tuple[int, str] | None = None
        self.cursorPositionChanged.connect(self._frame_selected_image)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._frame_selected_image())
        self.document().contentsChanged.connect(self._frame_selected_image)
        self.viewport().installEventFilter(self)

    def give_look(self) -> None:
        self.set_hint(tr("Write something. Everyone who has this document sees it at once."))
        self.setAccessibleName(tr("Document"))
        self.setAccessibleDescription(
            tr("The text of this document, shared with everyone who has it.")
        )

    def close_view(self) -> None:
        self.embeds.close()
        super().close_view()

    @property
    def active(self) -> RichEditor:
        """Where one writes: the page, or a cell of a table in it."""
        return self if self.cell is None else self.cell

    def texts_inside(self) -> list[InnerText]:
        """The cells of the tables that stand in the text, in the order in which one reads."""
        cells: list[InnerText] = []
        seen: set[str] = set()
        for position, name in self.embeds.all():
            if name not in seen and self.body.embeds.kind(name) == TABLE:
                parts = self.body.embeds.table(name)
                every = (Cell(row, column) for row in parts.rows for column in parts.columns)
                cells += [self._inner(position, name, parts.cell(cell), cell) for cell in every]
            seen.add(name)
        return cells

    def _inner(self, position: int, name: str, text: RichText, cell: Cell) -> InnerText:
        def show(start: int, end: int) -> None:
            self._show_cell(position, name, cell)
            if self.cell is not None:
                self.cell.select(start, end)

        def selected() -> tuple[int, int] | None:
            editor = self.cell
            is_here = editor is not None and editor.container == cell_container(name, cell)
            return editor.selection if editor is not None and is_here else None

        return InnerText(position, text, show, selected)

    def enter_table(self, position: int) -> None:
        """Begins to write in the first cell of the table that stands there or next."""
        for at, name in self.embeds.all():
            if at >= position and self.body.embeds.kind(name) == TABLE:
                parts = self.body.embeds.table(name)
                self._show_cell(at, name, Cell(parts.rows[0], parts.columns[0]))
                return

    def _show_cell(self, position: int, name: str, cell: Cell) -> None:
        """Begins to write in a cell, and brings it into sight."""
        self.select(position, position)
        self.embeds.place_now()
        shown = self.embeds.shown(name)
        grid = shown.widget
        if isinstance(grid, TableGrid) and grid.edit_cell(cell):
            rect = grid.cell_rect().translated(grid.pos())
            bar, height = self.verticalScrollBar(), self.viewport().height()
            if rect.bottom() > height or rect.top() < 0:
                bar.setValue(bar.value() + rect.center().y() - height // 2)

    def select(self, start: int, end: int) -> None:
        """In the page, so that one leaves the cell that one was in."""
        if self.grid is not None:
            self.grid.stop_editing()
        super().select(start, end)

    # What is embedded

    def _show_image(self, name: str) -> Shown:
        return ShownImage(self.theme, self.body.embeds, name, self.viewport())

    def _show_table(self, name: str) -> Shown:
        return ShownTable(self.theme, self.body, self._people, name, self._on_grid)

    def _show_object(self, name: str) -> Shown:
        return ShownObject(self._around, self.body.embeds, name)

    def _on_grid(self, grid: TableGrid, name: str) -> None:
        grid.size_changed.connect(lambda: self.embeds.size_changed(name))
        grid.said.connect(self._around.say)
        grid.entered.connect(lambda editor: self._on_cell(grid, editor))
        grid.left_table.connect(lambda: self._on_cell_left(grid))

    def _on_cell(self, grid: TableGrid, editor: QWidget) -> None:
        assert isinstance(editor, RichEditor), "cells are written in by one"
        self.cell, self.grid = editor, grid
        self.tells_caret = False
        editor.shortcuts = self.shortcuts
        editor.history_changed.connect(self.history_changed)
        editor.format_changed.connect(self.format_changed)
        editor.link_followed.connect(self.link_followed)
        self.when_cell()

    def _on_cell_left(self, grid: TableGrid) -> None:
        if self.grid is grid:
            self.cell = self.grid = None
            self.tells_caret = True
            self.setFocus()
            self.show_newest()
            self.when_cell()

    # The image that is selected

    def _selected_image(self) -> tuple[int, str] | None:
        caret = self.textCursor()
        if caret.selectionEnd() - caret.selectionStart() != 1:
            return None
        at = caret.selectionStart()
        name = self.marks_here.get("embed")
        if not isinstance(name, str) or self.body.embeds.kind(name) != IMAGE:
            return None
        return at, name

    def _frame_selected_image(self) -> None:
        self._image = self._selected_image()
        if self._image is None or self.isReadOnly():
            self._frame_of_image.hide()
        else:
            self._frame_of_image.show_over(self.embeds.rect_of(self._image[0]))

    def _preview_image(self, width: int) -> None:
        if self._image is not None:
            shown = self.embeds.shown(self._image[1])
            if isinstance(shown, ShownImage):
                shown.preview_width = width
                self.embeds.size_changed(self._image[1])
                self._frame_of_image.show_over(self.embeds.rect_of(self._image[0]))

    def _resize_image(self, width: int) -> None:
        if self._image is None:
            return
        _, name = self._image
        shown = self.embeds.shown(name)
        if isinstance(shown, ShownImage):
            shown.preview_width = 0
        self.change("image", lambda: self.body.embeds.set_width(name, width))
        self.embeds.size_changed(name)
        self._frame_selected_image()

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        pressed = event.type() is QEvent.Type.MouseButtonPress
        if watched is self.viewport() and pressed and isinstance(event, QMouseEvent):
            found = self.embeds.at(event.position().toPoint())
            left = event.button() is Qt.MouseButton.LeftButton
            if found is not None and left and self.body.embeds.kind(found[1]) == IMAGE:
                self.select(found[0], found[0] + 1)
                return True
        return super().eventFilter(watched, event)
