"""The view of shared files: a list, what is here of each, and everything one does with them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QMenu,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from liveobj.contents.store import Intake
from liveobj.errors import Problem
from liveobj.objects.files import (
    FILE_BYTES_MAX,
    TEMPLATE_ID,
    FileVersion,
    SharedFile,
    SharedFiles,
)
from liveobj.opening import Opening
from transport.whole_file import export_with
from widgets.action import Action
from widgets.empty_state import EmptyState
from widgets.files.file_opening import open_file
from widgets.files.file_painter import FilePainter
from widgets.files.files_model import FilesModel, size_words, state_of, time_words
from widgets.icons import show_icon
from widgets.language import tr, tr_n
from widgets.look import SPACE_PX, OwnKeys, label, line, page_column
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.throttle import QtAlarm, Throttle

_MEASURE_S = 1.0


class FilesView(ObjectView):
    """Attributes: `files`, `model`, `list`."""

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        assert isinstance(opening.shared, SharedFiles), "the kind says what is opened"
        self.files = opening.shared
        self.model = FilesModel(self.files, self)
        self.list = QListView()
        self._waiting: list[Path] = []
        self._intake: tuple[Path, Intake] | None = None
        self._turns = QTimer(self)
        self._turns.timeout.connect(self._take_a_piece)
        self._throttle = Throttle(self._show_changes, QtAlarm(self))
        # The disk is asked seldom; what has come of a file is shown in every frame.
        self._measuring = Throttle(self._show_room, QtAlarm(self), _MEASURE_S)
        self._stale = True
        self._actions = self._make_actions()
        self._build()
        request = self._throttle.request
        self._subscriptions = [
            self.files.document.observe(lambda change: self._on_change(change.origin.mine)),
            self.files.exchange.observe(lambda _: request()),
            self.files.presence.observe(lambda _: request()),
        ]
        around.theme.changed.connect(self.list.viewport().update)
        self._show_changes()

    # Building

    def _build(self) -> None:
        theme = self.around.theme
        column = page_column(self)
        tools = QHBoxLayout()
        tools.setContentsMargins(3 * SPACE_PX, 2 * SPACE_PX, 3 * SPACE_PX, 2 * SPACE_PX)
        self._add = QPushButton(tr("Add files…"))
        show_icon(self._add, theme, "plus")
        self._add.clicked.connect(self.ask_add)
        self._add.setEnabled(self.files.document.editable)
        self._progress = label("", "muted")
        tools.addWidget(self._add)
        tools.addWidget(self._progress, 1)
        column.addLayout(tools)
        column.addWidget(line())
        view = self.list
        view.setModel(self.model)
        view.setItemDelegate(FilePainter(theme, self.model, view))
        view.setAccessibleName(tr("Files"))
        view.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setUniformItemSizes(True)
        view.setMouseTracking(True)
        OwnKeys(view, Qt.Key.Key_F2)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._show_menu)
        view.activated.connect(lambda _: self.open_chosen())
        view.selectionModel().selectionChanged.connect(lambda *_: self.changed.emit())
        self.model.refused.connect(self.around.say)
        self._stack = QStackedWidget()
        self._stack.addWidget(view)
        self._stack.addWidget(
            EmptyState(
                theme,
                "files",
                tr("No files yet"),
                tr("Drop files here. Whoever is in this folder with you gets them."),
            )
        )
        column.addWidget(self._stack, 1)
        column.addWidget(line())
        self._room = label("", "small")
        self._room.setContentsMargins(3 * SPACE_PX, SPACE_PX, 0, SPACE_PX)
        column.addWidget(self._room)
        self.setFocusProxy(view)
        self.setAcceptDrops(True)

    # Showing

    def _on_change(self, mine: bool) -> None:
        self._stale = True
        self._throttle.request()
        if mine:
            self._throttle.flush()

    def _show_changes(self) -> None:
        if self._stale:
            self._stale = False
            self.model.refresh()
            self._stack.setCurrentIndex(0 if self.model.rows else 1)
        self._measuring.request()
        self.list.viewport().update()
        self.changed.emit()

    def _show_room(self) -> None:
        store = self.files.exchange.store
        total = sum(file.newest.size for file in self.model.rows)
        count = tr_n("{count} file", "{count} files", len(self.model.rows))
        room = tr(
            "{used} of {quota} for contents used on this PC",
            used=size_words(store.used_bytes()),
            quota=size_words(store.quota_bytes),
        )
        self._room.setText(f"{count} · {size_words(total)} · {room}")

    # Taking files in

    def ask_add(self) -> None:
        self.around.ask_for_files(tr("Add files"), "", self.add_files)

    def add_files(self, paths: Sequence[Path]) -> None:
        """Copies files into the store, a piece per turn, and puts each in when it is whole."""
        self._waiting += [path for path in paths if path.is_file()]
        folders = [path.name for path in paths if path.is_dir()]
        if folders:
            self.around.say(tr("{name} is a folder: add the files in it.", name=folders[0]))
        if self._waiting and not self._turns.isActive():
            self._turns.start(0)

    def _take_a_piece(self) -> None:
        try:
            if self._intake is None:
                path = self._waiting.pop(0)
                self._intake = (path, Intake(self.files.exchange.store, path, FILE_BYTES_MAX))
            path, intake = self._intake
            if intake.step():
                percent = 100 * intake.done // max(1, intake.size)
                words = tr("Adding {name}: {percent} %", name=path.name, percent=percent)
                self._progress.setText(words)
                return
            self._intake = None
            self.files.put(path.name, intake.name, intake.size)
        except Problem as problem:
            self._intake = None
            self.around.say(tr("{name} was not added. {why}", name=path.name, why=str(problem)))
        if not self._waiting:
            self._turns.stop()
            self._progress.setText("")

    # Intents

    def chosen(self) -> list[SharedFile]:
        rows = sorted({index.row() for index in self.list.selectedIndexes()})
        return [self.model.rows[row] for row in rows if row < len(self.model.rows)]

    def choose(self, name: str) -> None:
        for row, file in enumerate(self.model.rows):
            if file.name == name:
                self.list.setCurrentIndex(self.model.index(row))

    def _try(self, intent: Callable[[], None]) -> None:
        try:
            intent()
        except Problem as problem:
            self.around.say(str(problem))
        except OSError as problem:
            self.around.say(tr("The disk refuses: {reason}.", reason=problem.strerror))

    def get(self, version: FileVersion) -> Path | None:
        """The content if it is here; else it is fetched, and one is told so."""
        path = self.files.exchange.find(version.content)
        if path is None:
            self.files.exchange.want(version.content, version.size)
            self.around.say(tr("It is being fetched. Open it when it is here."))
            self._throttle.request()
        return path

    def open_chosen(self) -> None:
        """Opens what is chosen with the program of the system."""
        for file in self.chosen()[:1]:
            path = self.get(file.newest)
            if path is not None:
                self._try(partial(self._open, path, file.name))

    def _open(self, path: Path, name: str) -> None:
        open_file(path, name, self)

    def fetch_chosen(self) -> None:
        for file in self.chosen():
            self.files.exchange.want(file.newest.content, file.newest.size)
        self._throttle.request()

    def drop_copies(self) -> None:
        """Makes room on this PC: the others keep theirs."""
        for file in self.chosen():
            for version in file.versions:
                self.files.exchange.forget(version.content)
                self.files.exchange.store.remove(version.content)
        self._throttle.request()

    def save_chosen(self) -> None:
        for file in self.chosen()[:1]:
            self.ask_save(file.name, file.newest)

    def ask_save(self, name: str, version: FileVersion) -> None:
        path = self.get(version)
        if path is not None:
            self.around.ask_where_to_save(
                tr("Save file as"), name, "", lambda target: self.save(path, target)
            )

    def save(self, content: Path, target: Path) -> None:
        def copy_to(new: Path) -> None:
            shutil.copyfile(content, new)

        self._try(lambda: export_with(target, copy_to))

    def remove_chosen(self) -> None:
        """Takes files out for everybody; undo brings them back."""
        files = self.chosen()
        self._try(lambda: self.files.remove([file.identity for file in files]))

    def rename_chosen(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            self.list.edit(index)

    # Actions

    def _why_no_choice(self) -> str:
        return "" if self.list.selectedIndexes() else tr("nothing is chosen")

    def _why_no_change(self) -> str:
        return self._why_no_edit() or self._why_no_choice()

    def _why_no_edit(self) -> str:
        return "" if self.files.document.editable else tr("you can only view these files")

    def _make_actions(self) -> tuple[Action, ...]:
        choice, change = self._why_no_choice, self._why_no_change
        return (
            Action("files.add", tr("Add files…"), self.ask_add, "", self._why_no_edit),
            Action("files.open", tr("Open file"), self.open_chosen, "", choice),
            Action("files.fetch", tr("Fetch now"), self.fetch_chosen, "", choice),
            Action("files.save", tr("Save file as…"), self.save_chosen, "", choice),
            Action("files.rename", tr("Rename file"), self.rename_chosen, "", change),
            Action("files.remove", tr("Remove file"), self.remove_chosen, "Del", change),
            Action("files.free", tr("Remove from this PC only"), self.drop_copies, "", choice),
        )

    def actions_here(self) -> Sequence[Action]:
        return self._actions

    def _show_menu(self, place: QPoint) -> None:
        menu = self._file_menu()
        menu.popup(self.list.viewport().mapToGlobal(place))

    def _file_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self._actions:
            if not action.why_not():
                menu.addAction(action.title, action.run)
        files = self.chosen()
        if len(files) == 1 and len(files[0].versions) > 1:
            older = menu.addMenu(tr("Older versions"))
            for version in files[0].versions[1:]:
                self._add_version(older, files[0], version)
        return menu

    def _add_version(self, menu: QMenu, file: SharedFile, version: FileVersion) -> None:
        words = (time_words(version.seconds), version.author, size_words(version.size))
        inner = menu.addMenu(" · ".join(word for word in words if word).replace("&", "&&"))
        inner.addAction(tr("Save as…"), partial(self.ask_save, file.name, version))
        back = partial(self.files.bring_back, file.identity, version)
        entry = inner.addAction(tr("Make it the newest"), partial(self._try, back))
        entry.setEnabled(self.files.document.editable)

    # For whoever shows the view

    def show_newest(self) -> None:
        self._stale = True
        self._throttle.request()
        self._throttle.flush()
        self._measuring.flush()

    def describe(self) -> dict[str, Any]:
        return {
            "files": [
                {
                    "name": file.name,
                    "size": file.newest.size,
                    "author": file.newest.author,
                    "hash": file.newest.content,
                    "versions": len(file.versions),
                    "state": state_of(self.files, file.newest).words,
                }
                for file in self.model.rows
            ],
            "room": self._room.text(),
        }

    def close_view(self) -> None:
        self._turns.stop()
        if self._intake is not None:
            self._intake[1].cancel()
        for subscription in self._subscriptions:
            subscription.close()
        self._throttle.close()
        self._measuring.close()
        self.around.theme.changed.disconnect(self.list.viewport().update)

    # Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        local = any(url.isLocalFile() for url in event.mimeData().urls())
        if local and self.files.document.editable:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        urls = [url for url in event.mimeData().urls() if url.isLocalFile()]
        self.add_files([Path(url.toLocalFile()) for url in urls])
        event.acceptProposedAction()


KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Shared files"),
    sentence=tr("Real files, on every PC that is in it"),
    icon="files",
    view=FilesView,
)
