"""The view of a folder: cards or a list, folders inside folders opened in place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from liveobj.documents import Document, DocumentError
from liveobj.errors import Problem
from liveobj.objects.shared_folder import TEMPLATE_ID, Folder
from liveobj.observers import Subscription
from liveobj.opening import Opening
from liveobj.references import Reference, fingerprint
from liveobj.storage import StorageError
from widgets import drag
from widgets.action import Action, always
from widgets.empty_state import EmptyState
from widgets.folder.entry_list import EntryList
from widgets.folder.folder_model import FolderModel
from widgets.folder.folder_path import FolderPath, close_all
from widgets.folder.path_bar import PathBar
from widgets.folder.thumbnails import Thumbnails
from widgets.icons import icon_button, show_icon
from widgets.language import tr, tr_n
from widgets.look import SPACE_PX, label, line, page_column
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.throttle import QtAlarm, Throttle

_LOOK = "folder look"


class FolderView(ObjectView):
    """Attributes: `model`, `list`, `search`. `folder` is the one that is shown: the object itself,
    or one inside it that was opened in place."""

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        assert isinstance(opening.shared, Folder), "the kind says what is opened"
        self._path = FolderPath(around, opening)
        self._watching: list[Subscription] = []
        self.model = FolderModel(around.kinds, self)
        self.thumbnails = Thumbnails(around, self)
        self.list = EntryList(around.theme, self.model, self.thumbnails)
        self._throttle = Throttle(self._show_changes, QtAlarm(self))
        self._build()
        self._connect()
        self.show_cards(self._kept_look())
        self._show_folder()

    # Building

    def _build(self) -> None:
        theme = self.around.theme
        column = page_column(self)
        tools = QHBoxLayout()
        tools.setContentsMargins(2 * SPACE_PX, SPACE_PX, 2 * SPACE_PX, SPACE_PX)
        self.path_bar = PathBar(theme)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search in this folder"))
        self.search.setAccessibleName(tr("Search in this folder"))
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(24 * SPACE_PX)
        self.search.setMaximumWidth(50 * SPACE_PX)
        self._look = icon_button(self.around.theme, "list", tr("List or cards"), self.toggle_cards)
        self._new = icon_button(
            self.around.theme, "plus", tr("New object in this folder"), lambda: None
        )
        self._new.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._new.setMenu(self._new_menu())
        tools.addWidget(self.path_bar, 2)
        tools.addWidget(self.search, 1)
        tools.addWidget(self._look)
        tools.addWidget(self._new)
        column.addLayout(tools)
        column.addWidget(line())
        self._stack = QStackedWidget()
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._empty())
        column.addWidget(self._stack, 1)
        self.list.setViewportMargins(3 * SPACE_PX, SPACE_PX, 0, 0)
        self._count = label("", "small")
        self._count.setContentsMargins(3 * SPACE_PX, SPACE_PX, 0, SPACE_PX)
        column.addWidget(line())
        column.addWidget(self._count)
        self.setFocusProxy(self.list)
        self.setAcceptDrops(True)

    def _empty(self) -> QWidget:
        return EmptyState(
            self.around.theme,
            "folder",
            tr("Nothing in here yet"),
            tr("Drag objects or .liveobject files in, or make a new one with the plus."),
        )

    def _new_menu(self) -> QMenu:
        menu = QMenu(self)
        for each in self.around.kinds:
            menu.addAction(tr(each.title), partial(self.make_inside, each))
        return menu

    def _connect(self) -> None:
        self.list.activated.connect(lambda _: self.open_chosen())
        self.list.customContextMenuRequested.connect(self._show_menu)
        self.list.selectionModel().selectionChanged.connect(lambda *_: self.changed.emit())
        self.search.textChanged.connect(self._on_search)
        self.path_bar.chosen.connect(self.go_to)
        self.model.refused.connect(self.around.say)
        self.thumbnails.drawn.connect(lambda _: self.list.viewport().update())
        self.around.theme.changed.connect(self.list.viewport().update)

    # Which folder

    @property
    def folder(self) -> Folder:
        return self._path.folder

    def _show_folder(self) -> None:
        for subscription in self._watching:
            subscription.close()
        self._watching = [
            self.folder.content.observe(lambda change: self._on_content(change.origin.mine)),
            *(
                each.shared.observe(lambda _: self._throttle.request())
                for each in self._path.openings
            ),
        ]
        self.model.show_folder(self.folder)
        self._new.setEnabled(self.folder.document.editable)
        self._show_changes()

    def _on_content(self, mine: bool) -> None:
        self._throttle.request()
        if mine:
            self._throttle.flush()

    def _show_changes(self) -> None:
        self.model.refresh()
        self.path_bar.show_path(self._path.titles())
        total = len(self.folder.content)
        words = tr_n("{count} object", "{count} objects", total)
        if self.search.text().strip():
            words = tr("{found} of {total} found", found=len(self.model.entries), total=total)
        self._count.setText(words)
        self._stack.setCurrentIndex(0 if total else 1)
        self.changed.emit()

    def _on_search(self, words: str) -> None:
        self.model.search(words)
        self._show_changes()

    def enter(self, reference: Reference) -> None:
        """Opens a folder in place; one that one came through already is gone back to, so folders
        that are in each other lead nowhere."""
        depth = self._path.depth_of(reference)
        if depth is not None:
            self.go_to(depth)
            return
        try:
            entered = self._path.enter(reference)
        except Problem as problem:
            self.around.say(str(problem))
            return
        if entered:
            self.search.clear()
            self._show_folder()
        else:
            self.around.show(reference)

    def go_to(self, depth: int) -> None:
        """Back to a folder of the path; 0 is the object itself."""
        left = self._path.go_to(depth)
        if left:
            self.search.clear()
            self._show_folder()
            close_all(left)

    def go_back(self) -> None:
        self.go_to(self._path.depth - 1)

    # Undo belongs to the folder that is shown.

    @property
    def _document(self) -> Document:
        return self.folder.document

    @property
    def can_undo(self) -> bool:
        return self._document.can_undo

    @property
    def can_redo(self) -> bool:
        return self._document.can_redo

    def undo_edit(self) -> None:
        self._document.undo()

    def redo_edit(self) -> None:
        self._document.redo()

    # Intents

    def open_chosen(self, *, in_tab: bool = False) -> None:
        """Opens what is chosen: folders in place, everything else in a tab."""
        for entry in self.list.chosen():
            if entry.reference is None:
                self.around.say(
                    tr("{name} cannot be opened.", name=entry.name) + " " + entry.problem
                )
                continue
            found = self.around.kinds.of(entry.reference)
            if found is not None and found.template_id == TEMPLATE_ID and not in_tab:
                self.enter(entry.reference)
                return
            self.around.show(entry.reference)

    def make_inside(self, made: ObjectKind) -> None:
        """Makes a new object and puts it into the folder."""
        try:
            reference = self.around.make(made)
            name = self.folder.put(self._title_of(reference), reference)
        except Problem as problem:
            self.around.say(str(problem))
            return
        self.list.choose(name)

    def take_in(self, mime: QMimeData) -> None:
        """Puts what was dropped or pasted into the folder."""
        word = drag.kind_in(mime)
        made = next((each for each in self.around.kinds if each.word == word), None)
        if made is not None:
            self.make_inside(made)
            return
        dragged = drag.read_drag(mime)
        known = {
            fingerprint(entry.reference)
            for entry in self.folder.entries()
            if entry.reference is not None
        }
        try:
            for reference in dragged.references:
                if fingerprint(reference) not in known:
                    self.folder.put(self._title_of(reference), reference)
        except DocumentError as problem:
            self.around.say(str(problem))
        if dragged.problems:
            self.around.say(dragged.problems[0])

    def _title_of(self, reference: Reference) -> str:
        """The title that stands in a reference; it is not opened for that."""
        arguments = getattr(reference, "arguments", {})
        title = getattr(arguments.get("title"), "data", None)
        found = self.around.kinds.of(reference)
        fallback = tr("Object") if found is None else tr(found.title)
        return title if isinstance(title, str) and title.strip() else fallback

    def remove_chosen(self) -> None:
        """Takes what is chosen out of the folder."""
        names = [entry.name for entry in self.list.chosen()]
        try:
            self.folder.remove(names)
        except DocumentError as problem:
            self.around.say(str(problem))
            return
        if names:
            self.around.say(
                tr_n(
                    "{count} removed. Undo brings it back.",
                    "{count} removed. Undo brings them back.",
                    len(names),
                )
            )

    def rename_chosen(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            self.list.edit(index)

    # Look

    def show_cards(self, cards: bool) -> None:
        self.list.show_cards(cards)
        show_icon(self._look, self.around.theme, "list" if cards else "layout-grid")

    def toggle_cards(self) -> None:
        """From cards to a list and back; one's own choice."""
        self.show_cards(not self.list.cards)
        with suppress(StorageError):
            self.opening.shared.set_local(_LOOK, json.dumps(self.list.cards).encode())

    def _kept_look(self) -> bool:
        return self.opening.shared.local(_LOOK) != b"false"

    # Actions

    def _why_no_choice(self) -> str:
        return "" if self.list.selectedIndexes() else tr("nothing is chosen")

    def _why_no_change(self) -> str:
        if not self._document.editable:
            return tr("you can only view this folder")
        return self._why_no_choice()

    def _why_no_back(self) -> str:
        return "" if self._path.depth else tr("this is the folder itself")

    def actions_here(self) -> Sequence[Action]:
        choice, change = self._why_no_choice, self._why_no_change
        return (
            Action("folder.open", tr("Open"), self.open_chosen, "", choice),
            Action("folder.tab", tr("Open in a tab"), self._open_in_tab, "Ctrl+Return", choice),
            Action("folder.back", tr("Back"), self.go_back, "Alt+Left", self._why_no_back),
            Action("folder.rename", tr("Rename"), self.rename_chosen, "", change),
            Action("folder.remove", tr("Remove from folder"), self.remove_chosen, "Del", change),
            Action("folder.look", tr("List or cards"), self.toggle_cards, "", always),
            Action("folder.search", tr("Search in this folder"), self._go_search, "Ctrl+F"),
        )

    def _go_search(self) -> None:
        self.search.setFocus()

    def _open_in_tab(self) -> None:
        self.open_chosen(in_tab=True)

    def _show_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self.actions_here()[:5]:
            if not action.why_not():
                menu.addAction(action.title, action.run)
        menu.popup(self.list.viewport().mapToGlobal(place))

    # For whoever shows the view

    def show_newest(self) -> None:
        self._throttle.request()
        self._throttle.flush()

    def describe(self) -> dict[str, Any]:
        kinds = [self.model.kind(entry) for entry in self.model.entries]
        return {
            "path": self._path.titles(),
            "entries": [
                {"name": entry.name, "kind": "" if each is None else each.word}
                | ({"problem": entry.problem} if entry.problem else {})
                for entry, each in zip(self.model.entries, kinds, strict=True)
            ],
            "look": "cards" if self.list.cards else "list",
        }

    def close_view(self) -> None:
        self.thumbnails.close()
        self._throttle.close()
        for subscription in self._watching:
            subscription.close()
        self.around.theme.changed.disconnect(self.list.viewport().update)
        close_all(self._path.go_to(0))

    # Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        mime = event.mimeData()
        fits = drag.may_hold_references(mime) or drag.kind_in(mime) is not None
        if fits and self._document.editable and event.source() is not self.list:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if self._document.editable and event.source() is not self.list:
            self.take_in(event.mimeData())
            event.acceptProposedAction()


KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Folder"),
    sentence=tr("Objects that several people keep together"),
    icon="folder",
    view=FolderView,
)
