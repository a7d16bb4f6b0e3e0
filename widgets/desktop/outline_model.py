"""All items of a desktop as a tree of names and numbers, for those who cannot see it or prefer
keys.

Groups hold their members. Changes of others come in without disturbing what is selected, open or
being edited here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from liveobj.errors import Problem
from liveobj.objects.desktop_items import Frame, Item, around
from widgets.desktop.stage import Stage
from widgets.language import tr, tr_n

_ROOT = ""
Index = QModelIndex | QPersistentModelIndex


class Column(IntEnum):
    """What is said of each item."""

    NAME = 0
    X = 1
    Y = 2
    WIDTH = 3
    HEIGHT = 4


class OutlineModel(QAbstractItemModel):
    """`name_of` gives the name of an item; `refused` is told why an edit was not taken."""

    def __init__(
        self,
        stage: Stage,
        name_of: Callable[[Item], str],
        refused: Callable[[str], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._stage = stage
        self._name_of = name_of
        self._refused = refused
        self._children: dict[str, list[str]] = {_ROOT: []}
        self._parents: dict[str, str] = {}
        self._rows: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []

    def refresh(self) -> None:
        """Takes the newest items, as one reads them: from above, from the left."""
        children, parents = self._read()
        if children == self._children:
            last = self.index(max(len(self._children[_ROOT]) - 1, 0), Column.HEIGHT)
            self.dataChanged.emit(self.index(0, 0), last)
            for group in [name for name in children if name != _ROOT]:
                top = self.index_of(group)
                low = self.index(len(children[group]) - 1, Column.HEIGHT, top)
                self.dataChanged.emit(self.index(0, 0, top), low)
            return
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        names = [(self.name_at(index), index.column()) for index in kept]
        self._children, self._parents = children, parents
        self._rows = {name: row for held in children.values() for row, name in enumerate(held)}
        moved = [self.index_of(name, column) for name, column in names]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _read(self) -> tuple[dict[str, list[str]], dict[str, str]]:
        items = self._stage.desktop.items.values()
        sizes: dict[str, int] = {}
        for item in items:
            if item.groups:
                sizes[item.groups[0]] = sizes.get(item.groups[0], 0) + 1
        children: dict[str, list[str]] = {_ROOT: []}
        parents: dict[str, str] = {}
        for item in sorted(items, key=lambda i: (i.frame.y, i.frame.x, i.identity)):
            above = item.groups[0] if item.groups and sizes[item.groups[0]] > 1 else _ROOT
            if above not in children:
                children[above] = []
                children[_ROOT].append(above)
                parents[above] = _ROOT
            children[above].append(item.identity)
            parents[item.identity] = above
        return children, parents

    # Names: identities of items and of groups

    def name_at(self, index: Index) -> str:
        """The item or group at a place of the tree."""
        return self._names[index.internalId()] if index.isValid() else _ROOT

    def members(self, name: str) -> list[str]:
        """An item itself, or those in a group."""
        return self._children.get(name) or [name]

    def index_of(self, name: str, column: int = 0) -> QModelIndex:
        above = self._parents.get(name)
        if above is None:
            return QModelIndex()
        return self.createIndex(self._rows[name], column, self._number(name))

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._names)
            self._names.append(name)
        return number

    def _frame(self, name: str) -> Frame | None:
        items = self._stage.desktop.items
        return around(items[i].frame for i in self.members(name) if i in items)

    def _title(self, name: str) -> str:
        item = self._stage.desktop.items.get(name)
        if item is not None:
            return self._name_of(item)
        count = len(self.members(name))
        return tr_n("Group of {count}", "Group of {count}", count)

    # What Qt reads

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:
        held = self._children.get(self.name_at(parent), [])
        if not 0 <= row < len(held) or not 0 <= column < len(Column):
            return QModelIndex()
        return self.createIndex(row, column, self._number(held[row]))

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        return self.index_of(self._parents.get(self.name_at(index), _ROOT))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        if parent.isValid() and parent.column() != Column.NAME:
            return 0
        return len(self._children.get(self.name_at(parent), ()))

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole and section != Column.NAME:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return [tr("Name"), tr("X"), tr("Y"), tr("Width"), tr("Height")][section]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole)
        accessible = Qt.ItemDataRole.AccessibleTextRole
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() != Column.NAME:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if not index.isValid() or role not in (*roles, accessible):
            return None
        name, column = self.name_at(index), Column(index.column())
        if column is Column.NAME:
            return self._title(name)
        frame = self._frame(name)
        if frame is None:
            return ""
        values = {
            Column.X: frame.x,
            Column.Y: frame.y,
            Column.WIDTH: frame.width,
            Column.HEIGHT: frame.height,
        }
        words = str(round(values[column]))
        if role == accessible:
            heading = self.headerData(column, Qt.Orientation.Horizontal)
            return tr("{what} {value}", what=heading, value=words)
        return words

    # What Qt writes

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        name = self.name_at(index)
        group = name not in self._stage.desktop.items
        fixed = group and index.column() not in (Column.X, Column.Y)
        if self._stage.editable and not fixed:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        name, column = self.name_at(index), Column(index.column())
        try:
            if column is Column.NAME:
                return self._rename(name, str(value))
            return self._set_number(name, column, str(value))
        except Problem as problem:
            self._refused(str(problem))
            return False

    def _rename(self, name: str, title: str) -> bool:
        item = self._stage.desktop.items.get(name)
        if item is None or title.strip() == self._name_of(item):
            return False
        self._stage.desktop.entitle(name, title)
        return True

    def _set_number(self, name: str, column: Column, text: str) -> bool:
        try:
            number = float(text.strip().replace(",", "."))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            self._refused(tr("“{words}” is not a number.", words=text[:40]))
            return False
        frame = self._frame(name)
        if frame is None:
            return False
        desktop = self._stage.desktop
        dx = number - frame.x if column is Column.X else 0.0
        dy = number - frame.y if column is Column.Y else 0.0
        frames: dict[str, Frame] = {}
        for identity in self.members(name):
            item = desktop.items.get(identity)
            if item is not None:
                moved = item.frame.moved(dx, dy)
                width = number if column is Column.WIDTH else moved.width
                height = number if column is Column.HEIGHT else moved.height
                frames[identity] = Frame(moved.x, moved.y, width, height)
        desktop.arrange(frames, "numbers")
        return True
