"""Shared files as rows, each with the state of its content on this PC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, Qt, Signal

from liveobj.documents import DocumentError
from liveobj.objects.files import FileVersion, SharedFile, SharedFiles
from widgets.language import tr

_Role = Qt.ItemDataRole


class Here(Enum):
    """Where a content is."""

    HERE = "here"
    COMING = "coming"
    NOBODY = "nobody"
    ASKED = "on request"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class ContentState:
    """`part` is how much has come, from 0 to 1."""

    here: Here
    part: float
    words: str


def state_of(files: SharedFiles, version: FileVersion) -> ContentState:
    """How the content of a version is on this PC, in words."""
    exchange = files.exchange
    if exchange.find(version.content) is not None:
        return ContentState(Here.HERE, 1.0, tr("here"))
    arrival = exchange.arrival(version.content)
    if arrival is None:
        return ContentState(Here.ASKED, 0.0, tr("not fetched yet"))
    part = min(1.0, arrival.done / max(1, arrival.size))
    if arrival.problem:
        return ContentState(Here.PROBLEM, part, arrival.problem)
    if arrival.moving:
        return ContentState(Here.COMING, part, tr("on its way {part} %", part=int(100 * part)))
    return ContentState(Here.NOBODY, part, tr("nobody here has it now"))


def size_words(size: int) -> str:
    """A size as people say it."""
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def time_words(seconds: int) -> str:
    if seconds <= 0:
        return ""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M}"


class FilesModel(QAbstractListModel):
    """Attributes: `files`, `rows`. Signals: `refused(sentence)`."""

    refused = Signal(str)

    def __init__(self, files: SharedFiles, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.files = files
        self.rows: list[SharedFile] = files.files()

    def refresh(self) -> None:
        """Takes what there is now; what stays keeps its place and selection."""
        new = self.files.files()
        wanted = {file.identity for file in new}
        for row in range(len(self.rows) - 1, -1, -1):
            if self.rows[row].identity not in wanted:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self.rows[row]
                self.endRemoveRows()
        if [f.identity for f in self.rows] != [
            f.identity for f in new if f.identity in {r.identity for r in self.rows}
        ]:
            self.beginResetModel()
            self.rows = new
            self.endResetModel()
            return
        for row, file in enumerate(new):
            if row < len(self.rows) and self.rows[row].identity == file.identity:
                self.rows[row] = file
            else:
                self.beginInsertRows(QModelIndex(), row, row)
                self.rows.insert(row, file)
                self.endInsertRows()
        if self.rows:
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))

    def file(self, index: Any) -> SharedFile | None:
        return self.rows[index.row()] if 0 <= index.row() < len(self.rows) else None

    # Qt

    def rowCount(self, parent: Any = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Any, role: int = _Role.DisplayRole) -> Any:
        file = self.file(index)
        if file is None:
            return None
        if role in (_Role.DisplayRole, _Role.EditRole):
            return file.name
        if role == _Role.AccessibleTextRole:
            return f"{file.name}, {self.about(file)}, {state_of(self.files, file.newest).words}"
        return None

    def about(self, file: SharedFile) -> str:
        """Size, author, time and number of versions."""
        newest = file.newest
        parts = [size_words(newest.size), newest.author, time_words(newest.seconds)]
        if len(file.versions) > 1:
            parts.append(tr("{count} versions", count=len(file.versions)))
        return " · ".join(part for part in parts if part)

    def setData(self, index: Any, value: Any, role: int = _Role.EditRole) -> bool:
        file = self.file(index)
        if role != _Role.EditRole or file is None or value == file.name:
            return False
        try:
            self.files.rename_file(file.identity, str(value))
        except DocumentError as problem:
            self.refused.emit(str(problem))
            return False
        return True

    def flags(self, index: Any) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        editable = self.files.document.editable
        return flags | Qt.ItemFlag.ItemIsEditable if editable else flags
