"""What is in a folder as rows, by name, with what the search leaves; things can be dragged out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, Qt, Signal

from liveobj.documents import DocumentError
from liveobj.objects.shared_folder import Folder, FolderEntry
from widgets import drag
from widgets.object_kind import Kinds, ObjectKind

_Role = Qt.ItemDataRole


class FolderModel(QAbstractListModel):
    """Attributes: `folder`, `entries` (those that are shown). Signals: `refused(sentence)` for
    a name that cannot be."""

    refused = Signal(str)

    def __init__(self, kinds: Kinds, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kinds = kinds
        self.folder: Folder | None = None
        self.entries: list[FolderEntry] = []
        self._all: list[FolderEntry] = []
        self._words = ""

    def kind(self, entry: FolderEntry) -> ObjectKind | None:
        return None if entry.reference is None else self._kinds.of(entry.reference)

    def show_folder(self, folder: Folder) -> None:
        self.beginResetModel()
        self.folder = folder
        self._all = folder.entries()
        self.entries = self._found()
        self.endResetModel()

    def refresh(self) -> None:
        """Takes what is in the folder now; what stays keeps its place and selection."""
        if self.folder is not None:
            self._all = self.folder.entries()
            self._show(self._found())

    def search(self, words: str) -> None:
        """Shows only names that contain every word."""
        self._words = words
        self._show(self._found())

    def _found(self) -> list[FolderEntry]:
        words = self._words.lower().split()
        found = [e for e in self._all if all(word in e.name.lower() for word in words)]
        return sorted(found, key=lambda entry: entry.name.lower())

    def _show(self, new: Sequence[FolderEntry]) -> None:
        wanted = {entry.name for entry in new}
        for row in range(len(self.entries) - 1, -1, -1):
            if self.entries[row].name not in wanted:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self.entries[row]
                self.endRemoveRows()
        for row, entry in enumerate(new):
            if row < len(self.entries) and self.entries[row].name == entry.name:
                if self.entries[row] != entry:
                    self.entries[row] = entry
                    self.dataChanged.emit(self.index(row), self.index(row))
            else:
                self.beginInsertRows(QModelIndex(), row, row)
                self.entries.insert(row, entry)
                self.endInsertRows()

    def entry(self, index: QModelIndex) -> FolderEntry | None:
        return self.entries[index.row()] if 0 <= index.row() < len(self.entries) else None

    # Qt

    def rowCount(self, parent: Any = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: Any, role: int = _Role.DisplayRole) -> Any:
        entry = self.entry(index)
        if entry is None:
            return None
        if role in (_Role.DisplayRole, _Role.EditRole):
            return entry.name
        if role == _Role.ToolTipRole:
            return entry.problem or None
        if role == _Role.AccessibleTextRole:
            kind = self.kind(entry)
            return f"{entry.name}, {kind.title}" if kind is not None else entry.name
        return None

    def setData(self, index: Any, value: Any, role: int = _Role.EditRole) -> bool:
        entry = self.entry(index)
        if role != _Role.EditRole or entry is None or self.folder is None:
            return False
        try:
            self.folder.rename_entry(entry.name, str(value))
        except DocumentError as problem:
            self.refused.emit(str(problem))
            return False
        return True

    def flags(self, index: Any) -> Qt.ItemFlag:
        editable = self.folder is not None and self.folder.document.editable
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags

    def supportedDragActions(self) -> Qt.DropAction:
        return Qt.DropAction.CopyAction | Qt.DropAction.LinkAction

    def mimeData(self, indexes: Any) -> QMimeData:
        entries = [self.entry(index) for index in indexes]
        return drag.mime_of_all(
            [(e.reference, e.name) for e in entries if e is not None and e.reference is not None]
        )
