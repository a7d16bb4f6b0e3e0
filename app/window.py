"""The main window: arranges the parts and shows the object in front; it opens and saves nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.actions import ActionRegistry
from app.object_page import ObjectPage
from app.session import OpenObject
from widgets.command_palette import CommandPalette
from widgets.error_card import ErrorCard
from widgets.home import Home, RecentObject
from widgets.icons import application_icon
from widgets.look import kind
from widgets.notice import Notice
from widgets.object_kind import Kinds
from widgets.object_tabs import ObjectTabs
from widgets.object_view import Surroundings
from widgets.sidebar import Sidebar, Tool
from widgets.state_line import NetworkWords, StateLine
from widgets.theme import Theme
from widgets.top_bar import TopBar

_SIZE = QSize(1080, 720)
_SIZE_MIN = QSize(600, 400)
# Narrower than this, the side shows icons only.
_FOLD_BELOW_PX = 820
FILE_FILTER = "Live objects (*.liveobject)"


class MainWindow(QMainWindow):
    """Shows open objects in tabs, or the home page.

    Attributes: `registry` (of actions), `notice`, `tabs`, `theme`. Signals: `file_dropped(path)`,
    `recent_asked(path)`, `page_closed(page)`, `closing`.
    """

    file_dropped = Signal(str)
    recent_asked = Signal(str)
    page_closed = Signal(QWidget)
    closing = Signal()

    def __init__(self, theme: Theme, kinds: Kinds) -> None:
        super().__init__()
        self.theme = theme
        self._kinds = kinds
        self.registry = ActionRegistry(self)
        self.setWindowTitle("Live Objects")
        self.setWindowIcon(application_icon())
        self.setMinimumSize(_SIZE_MIN)
        self.resize(_SIZE)
        self.setAcceptDrops(True)
        self._fold_wanted = False

    def build(self, network: NetworkWords, around: Surroundings) -> None:
        """Makes the parts; the actions that they show must have been registered."""
        self._around = around
        registry, theme = self.registry, self.theme
        self._top = TopBar(
            theme,
            registry["view.side"],
            registry["palette.open"],
            [registry["reference.save"], registry["reference.copy"]],
            registry["theme.toggle"],
        )
        self._side = Sidebar(
            theme,
            self._kinds,
            [("house", registry["view.home"]), ("folder-open", registry["object.open"])],
            [
                Tool(kind.picture, kind.title, kind.sentence, registry[f"{kind.word}.new"])
                for kind in self._kinds
            ],
        )
        self.home = Home(theme, self._kinds, [registry["note.new"], registry["object.open"]])
        self.tabs = ObjectTabs(theme, registry["note.new"])
        self._state_line = StateLine(theme, network)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.home)
        self._stack.addWidget(self.tabs)
        self._arrange()
        self.notice = Notice(theme, self)
        self._palette = CommandPalette(theme, registry.commands, self)
        self._palette.chosen.connect(self._on_command)
        self.tabs.front_changed.connect(lambda _: self.show_front())
        self.tabs.close_asked.connect(self.close_page)
        self.home.open_recent.connect(self.recent_asked)
        self._side.open_recent.connect(self.recent_asked)
        self.show_home()

    def _arrange(self) -> None:
        root = QWidget()
        kind(root, "window")
        column = QVBoxLayout(root)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self._side)
        middle.addWidget(self._stack, 1)
        column.addWidget(self._top)
        column.addLayout(middle, 1)
        column.addWidget(self._state_line)
        self.setCentralWidget(root)

    # What is in front

    @property
    def front(self) -> ObjectPage | None:
        """The object that one sees, if it is one."""
        page = self.tabs.currentWidget() if self.at_home is False else None
        return page if isinstance(page, ObjectPage) else None

    @property
    def at_home(self) -> bool:
        return self._stack.currentWidget() is self.home

    def object_pages(self) -> list[ObjectPage]:
        return [page for page in self.tabs.pages() if isinstance(page, ObjectPage)]

    def show_home(self) -> None:
        self._stack.setCurrentWidget(self.home)
        self.home.setFocus()
        self.show_front()

    def show_object(self, opened: OpenObject) -> None:
        """Brings an open object to the front, in a new tab if it has none."""
        self._stack.setCurrentWidget(self.tabs)
        page = next((page for page in self.object_pages() if page.opened is opened), None)
        if page is None:
            page = ObjectPage(self._around, opened)
            page.changed.connect(self.show_front)
            self.tabs.add_page(page, page.title, str(opened.file), page.kind.icon)
        else:
            self.tabs.setCurrentWidget(page)
        page.setFocus()
        self.show_front()

    def show_failure(self, title: str, sentence: str, details: str = "") -> None:
        """Shows in a tab why something could not be opened; the others go on."""
        self._stack.setCurrentWidget(self.tabs)
        card = ErrorCard(self.theme, title, sentence, details)
        self.tabs.add_page(card, "Not opened", sentence, "triangle-alert")
        self.show_front()

    def show_recent(self, recent: tuple[RecentObject, ...]) -> None:
        self.home.show_recent(recent)
        self._side.show_recent(recent)

    def close_page(self, page: QWidget) -> None:
        self.tabs.remove_page(page)
        if isinstance(page, ObjectPage):
            page.close_page()
            self.page_closed.emit(page)
        page.deleteLater()
        if not self.tabs.count():
            self.show_home()
        self.show_front()

    def show_front(self) -> None:
        """Brings everything around the page up to date with it."""
        page = self.front
        people = [] if page is None else page.people
        self._top.people.show_people(people)
        self._top.share.setVisible(page is not None)
        self._state_line.show_state(None if page is None else page.state, people)
        self.setWindowTitle("Live Objects" if page is None else f"{page.title} – Live Objects")
        if page is not None:
            self.tabs.rename_page(page, page.title)
        self.registry.show_view_actions(() if page is None else page.view.actions_here())
        self.registry.refresh()

    def show_network(self, network: NetworkWords) -> None:
        self._state_line.show_network(network)

    @property
    def state_text(self) -> str:
        """What the state line says about the object in front."""
        return self._state_line.text

    @property
    def network_text(self) -> str:
        """What the state line says about the network."""
        return self._state_line.network_text

    # Parts that actions use

    def open_palette(self) -> None:
        self._palette.open()

    @property
    def palette_widget(self) -> CommandPalette:
        return self._palette

    def toggle_side(self) -> None:
        self._fold_wanted = not self._side.folded
        self._side.set_folded(self._fold_wanted)

    def ask_for_files(self, title: str, filters: str, done: Callable[[list[Path]], None]) -> None:
        """Asks which files to open, without stopping the program."""
        dialog = QFileDialog(self, title, str(Path.home()), filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda files: done([Path(file) for file in files]))
        dialog.open()

    def ask_where_to_save(
        self, title: str, name: str, filters: str, done: Callable[[Path], None]
    ) -> None:
        """Asks for the file to write, without stopping the program; its ending is that of `name`
        unless the person writes another."""
        dialog = QFileDialog(self, title, str(Path.home()), filters)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(Path(name).suffix.removeprefix("."))
        dialog.selectFile(name)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda file: done(Path(file)))
        dialog.open()

    def picture(self) -> QPixmap:
        """The window as it looks now, in the pixels of its screen."""
        for page in self.object_pages():
            page.view.show_newest()
        return self.grab()

    def _on_command(self, identity: str) -> None:
        page = self.front
        if page is not None:
            page.setFocus()
        self.registry.run(identity)

    # Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_side"):
            narrow = self.width() < _FOLD_BELOW_PX
            if self._side.folded != (narrow or self._fold_wanted):
                self._side.set_folded(narrow or self._fold_wanted)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closing.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for file in dropped_files(event.mimeData()):
            self.file_dropped.emit(file)
        event.acceptProposedAction()


def dropped_files(data: QMimeData) -> list[str]:
    """The reference files in what is dragged over the window."""
    files = [url.toLocalFile() for url in data.urls() if url.isLocalFile()]
    return [file for file in files if file.endswith(".liveobject")]
