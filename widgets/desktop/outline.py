"""The panel with the outline of a desktop: every item by name, to be chosen, renamed, moved by
numbers and deleted with keys alone."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from liveobj.objects.desktop_items import Item
from widgets.desktop.outline_model import Column, OutlineModel
from widgets.desktop.stage import Stage
from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme
from widgets.throttle import QtAlarm, Throttle

_WIDTH_PX = 372
_NUMBER_PX = 58


class _Tree(QTreeView):
    """Signals: `delete_asked`, `left`."""

    delete_asked = Signal()
    left = Signal()

    # Qt

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            with_key = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
            if not event.modifiers() & with_key:
                # To write and to delete here is not for the shortcuts of the window.
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_asked.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class Outline(QFrame):
    """Attributes: `model`, `tree`. Signals: `activated(identity)`: one wants to work in an item;
    `delete_asked`; `left`: back to the canvas."""

    activated = Signal(str)
    delete_asked = Signal()
    left = Signal()

    def __init__(
        self,
        theme: Theme,
        stage: Stage,
        name_of: Callable[[Item], str],
        refused: Callable[[str], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        kind(self, "panel")
        self.setFixedWidth(_WIDTH_PX)
        self._stage = stage
        self._choosing = False
        self.model = OutlineModel(stage, name_of, refused, self)
        self.tree = _Tree()
        self.tree.setModel(self.model)
        self.tree.setAccessibleName(tr("Outline of the desktop"))
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
            | QAbstractItemView.EditTrigger.DoubleClicked
        )
        self.tree.setUniformRowHeights(True)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)
        for column in list(Column)[1:]:
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, _NUMBER_PX)
        close = QToolButton()
        close.setAccessibleName(tr("Close the outline"))
        close.setIconSize(QSize(16, 16))
        show_icon(close, theme, "x", "muted")
        close.clicked.connect(self.hide)
        head = QHBoxLayout()
        head.setContentsMargins(3 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX, SPACE_PX)
        head.addWidget(label(tr("Outline"), "strong"), 1)
        head.addWidget(close)
        column_box = QVBoxLayout(self)
        column_box.setContentsMargins(0, 0, 0, 0)
        column_box.setSpacing(0)
        column_box.addLayout(head)
        column_box.addWidget(self.tree, 1)
        self._frame = Throttle(self.refresh, QtAlarm(self))
        self.tree.delete_asked.connect(self.delete_asked)
        self.tree.left.connect(self.left)
        self.tree.activated.connect(lambda index: self.activated.emit(self.model.name_at(index)))
        self.tree.selectionModel().selectionChanged.connect(lambda *_: self._on_tree())
        stage.items_changed.connect(self._frame.request)
        stage.selection_changed.connect(self._show_selection)
        self.hide()

    def close_outline(self) -> None:
        self._frame.close()

    def refresh(self) -> None:
        """Shows the newest, if anybody looks."""
        if self.isVisible():
            self.model.refresh()
            self.tree.expandAll()
            self._show_selection()

    def open_outline(self) -> None:
        self.show()
        self.refresh()
        self.tree.setFocus()
        if not self.tree.currentIndex().isValid():
            self.tree.setCurrentIndex(self.model.index(0, 0))

    def _on_tree(self) -> None:
        """What is chosen in the tree is chosen on the desktop."""
        if self._choosing:
            return
        names = {self.model.name_at(index) for index in self.tree.selectionModel().selectedRows()}
        self._choosing = True
        chosen = {identity for name in names for identity in self.model.members(name)}
        self._stage.select(chosen, whole_groups=False)
        self._choosing = False
        frame = next((f for i in chosen if (f := self._stage.frame_of(i)) is not None), None)
        if frame is not None and self.tree.hasFocus():
            self._stage.bring_into_sight(frame)

    def _show_selection(self) -> None:
        """What is chosen on the desktop is chosen in the tree."""
        if self._choosing or not self.isVisible():
            return
        self._choosing = True
        selection = QItemSelection()
        for identity in self._stage.selection:
            first = self.model.index_of(identity)
            if first.isValid():
                selection.select(first, self.model.index_of(identity, Column.HEIGHT))
        model = self.tree.selectionModel()
        model.select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        indexes = selection.indexes()
        if indexes and not self.tree.hasFocus():
            flag = QItemSelectionModel.SelectionFlag.NoUpdate
            model.setCurrentIndex(indexes[0], flag)
            self.tree.scrollTo(indexes[0])
        self._choosing = False
