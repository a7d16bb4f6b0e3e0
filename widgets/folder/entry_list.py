"""What is in a folder, as cards or as a list."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QListView

from liveobj.objects.shared_folder import FolderEntry
from widgets.folder.entry_painter import CARD, EntryPainter
from widgets.folder.folder_model import FolderModel
from widgets.folder.thumbnails import Thumbnails
from widgets.language import tr
from widgets.look import OwnKeys
from widgets.theme import Theme


class EntryList(QListView):
    """Shows the entries of the model, and which of them are chosen."""

    def __init__(self, theme: Theme, model: FolderModel, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._entries = model
        self._painter = EntryPainter(theme, model, thumbnails, self)
        self.setModel(model)
        self.setItemDelegate(self._painter)
        self.setAccessibleName(tr("What is in the folder"))
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        OwnKeys(self, Qt.Key.Key_F2)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    @property
    def cards(self) -> bool:
        return self._painter.cards

    def show_cards(self, cards: bool) -> None:
        self._painter.cards = cards
        mode = QListView.ViewMode.IconMode if cards else QListView.ViewMode.ListMode
        self.setViewMode(mode)
        self.setMovement(QListView.Movement.Static)
        # What is dropped goes to the view, which is there while the list is empty, too.
        self.setDragDropMode(QListView.DragDropMode.DragOnly)
        self.setGridSize(CARD if cards else QSize())
        self.setSpacing(0)

    def chosen(self) -> list[FolderEntry]:
        rows = sorted({index.row() for index in self.selectedIndexes()})
        return [self._entries.entries[row] for row in rows if row < len(self._entries.entries)]

    def choose(self, name: str) -> None:
        """Chooses the thing of that name."""
        for row, entry in enumerate(self._entries.entries):
            if entry.name == name:
                self.setCurrentIndex(self._entries.index(row))
