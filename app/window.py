"""The main window: arranges the parts and shows the page in front; it opens and saves nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDrag,
    QDragEnterEvent,
    QDropEvent,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.actions import ActionRegistry
from app.object_page import ObjectPage
from app.plain_page import PlainPage
from app.session import OpenObject, PlainObject
from widgets.command_palette import CommandPalette, Search
from widgets.drag import may_hold_references, mime_of, read_drag
from widgets.error_card import ErrorCard
from widgets.home import Home
from widgets.icons import application_icon, picture
from widgets.language import tr
from widgets.listed_object import ListedObject
from widgets.look import kind
from widgets.notice import Notice
from widgets.object_kind import Kinds
from widgets.object_tabs import ObjectTabs
from widgets.object_view import Surroundings
from widgets.sidebar import Sidebar
from widgets.state_line import StateLine
from widgets.state_words import NetworkWords
from widgets.theme import Theme
from widgets.toolbox import Tool
from widgets.top_bar import TopBar

WINDOW_SIZE = QSize(1160, 760)
_SIZE_MIN = QSize(480, 400)
# Narrower than this, the side shows icons only.
_FOLD_BELOW_PX = 820
_DRAG_PICTURE = QSize(48, 48)
TAB_ACTIONS = (
    "object.rename",
    "object.pin",
    "reference.copy",
    "object.close",
    "object.close_others",
    "object.reopen",
)


class MainWindow(QMainWindow):
    """Shows pages in tabs, or the home page.

    Attributes: `registry` (of actions), `notice`, `tabs`, `side`, `top`, `theme`. Signals:
    `references_dropped(mime)`, `open_asked(key)`, `pin_asked(key)`, `page_closed(page)`,
    `front_changed`, `shown_changed` (whether it can be seen at all), `closing`,
    `copy_asked(page)`. `may_close` and `may_close_page` are asked before the person closes it, or a
    tab.
    """

    references_dropped = Signal(object)
    open_asked = Signal(str)
    pin_asked = Signal(str)
    page_closed = Signal(QWidget)
    front_changed = Signal()
    shown_changed = Signal()
    network_changed = Signal()
    closing = Signal()
    copy_asked = Signal(QWidget)

    def __init__(self, theme: Theme, kinds: Kinds) -> None:
        super().__init__()
        self.theme = theme
        self._kinds = kinds
        self.registry = ActionRegistry(self)
        self.setWindowTitle("Live Objects")
        self.setWindowIcon(application_icon())
        self.setMinimumSize(_SIZE_MIN)
        self.resize(WINDOW_SIZE)
        self.setAcceptDrops(True)
        self._fold_wanted = False
        self.may_close: Callable[[], bool] = lambda: True
        self.may_close_page: Callable[[QWidget], bool] = lambda _page: True

    def build(self, network: NetworkWords, around: Surroundings, search: Search) -> None:
        """Makes the parts; the actions that they show must have been registered."""
        self._around = around
        registry, theme = self.registry, self.theme
        self.top = TopBar(
            theme,
            registry["view.side"],
            registry["palette.open"],
            registry["share.open"],
            [("settings", registry["settings.open"])],
            registry["theme.toggle"],
        )
        self.side = Sidebar(
            theme,
            self._kinds,
            [("house", registry["view.home"]), ("folder-open", registry["object.open"])],
            [
                Tool(one.word, one.picture, one.title, one.sentence, registry[f"{one.word}.new"])
                for one in self._kinds
            ],
        )
        self.home = Home(theme, self._kinds, [registry["note.new"], registry["object.open"]])
        self.tabs = ObjectTabs(theme, registry["note.new"])
        self.network = network
        self._state_line = StateLine(theme, network)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.home)
        self._stack.addWidget(self.tabs)
        self._arrange()
        self.notice = Notice(theme, self)
        self._palette = CommandPalette(theme, registry.commands, self, search)
        self._palette.chosen.connect(self._on_command)
        self._palette.object_chosen.connect(self.open_asked)
        self.tabs.front_changed.connect(lambda _: self.show_front())
        self.tabs.close_asked.connect(self.ask_to_close)
        self.tabs.menu_asked.connect(self._on_tab_menu)
        self.tabs.drag_asked.connect(self.drag_out)
        self.top.object_icon.drag_asked.connect(lambda: self.drag_out(self.front))
        self.home.open_recent.connect(self.open_asked)
        self.side.toolbox.place = self._place_in_front
        self.side.open_asked.connect(self.open_asked)
        self.side.pin_asked.connect(self.pin_asked)
        self.show_home()

    def _arrange(self) -> None:
        root = QWidget()
        kind(root, "window")
        column = QVBoxLayout(root)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.side)
        middle.addWidget(self._stack, 1)
        column.addWidget(self.top)
        column.addLayout(middle, 1)
        column.addWidget(self._state_line)
        self.setCentralWidget(root)

    # What is in front

    @property
    def front(self) -> ObjectPage | None:
        """The object that one sees, if it is one."""
        page = self.front_page
        return page if isinstance(page, ObjectPage) else None

    @property
    def front_page(self) -> QWidget | None:
        """The page that one sees, whatever it is; None at home."""
        return None if self.at_home else self.tabs.currentWidget()

    @property
    def at_home(self) -> bool:
        return self._stack.currentWidget() is self.home

    def object_pages(self) -> list[ObjectPage]:
        return [page for page in self.tabs.pages() if isinstance(page, ObjectPage)]

    def page_of(self, opened: OpenObject | PlainObject) -> ObjectPage | PlainPage | None:
        pages = [p for p in self.tabs.pages() if isinstance(p, ObjectPage | PlainPage)]
        return next((page for page in pages if page.opened is opened), None)

    def show_home(self) -> None:
        self._stack.setCurrentWidget(self.home)
        self.home.setFocus()
        self.show_front()

    def show_object(self, opened: OpenObject | PlainObject, *, behind: bool = False) -> None:
        """Brings an open object to the front, in a new tab if it has none; or adds it `behind`."""
        page = self.page_of(opened)
        if page is None:
            page = self._new_page(opened)
            icon = opened.kind.icon if isinstance(opened, OpenObject) else "box"
            self.show_page(page, page.title, opened.where or page.title, icon, behind=behind)
        elif not behind:
            self._stack.setCurrentWidget(self.tabs)
            self.tabs.setCurrentWidget(page)
            page.setFocus()
            self.show_front()

    def _new_page(self, opened: OpenObject | PlainObject) -> ObjectPage | PlainPage:
        if isinstance(opened, PlainObject):
            return PlainPage(self.theme, opened)
        page = ObjectPage(self._around, opened)
        page.changed.connect(lambda: self._on_page_changed(page))
        page.unsaved.connect(lambda: self._on_page_unsaved(page))
        page.copy_asked.connect(lambda: self.copy_asked.emit(page))
        return page

    def _on_page_changed(self, page: ObjectPage) -> None:
        self.tabs.rename_page(page, page.title)
        self.tabs.warn_page(page, page.state.problem is not None)
        self.show_front()

    def _on_page_unsaved(self, page: ObjectPage) -> None:
        if page is self.front:
            self._state_line.show_state(page.state, page.people, page)

    def show_page(
        self, page: QWidget, title: str, where: str, icon: str, *, behind: bool = False
    ) -> None:
        """Adds a tab with any page."""
        self.tabs.add_page(page, title, where, icon, behind=behind)
        if not behind:
            self._stack.setCurrentWidget(self.tabs)
            page.setFocus()
        self.show_front()

    def bring_to_front(self, page: QWidget) -> None:
        self._stack.setCurrentWidget(self.tabs)
        self.tabs.setCurrentWidget(page)
        self.show_front()

    def show_failure(
        self,
        title: str,
        sentence: str,
        details: str = "",
        *,
        key: str = "",
        behind: bool = False,
    ) -> ErrorCard:
        """Shows in a tab why something could not be opened; the others go on. What has a
        `key` may be tried again."""
        card = ErrorCard(self.theme, title, sentence, details, key=key)
        self.show_page(card, tr("Not opened"), sentence, "triangle-alert", behind=behind)
        return card

    def show_lists(self, recent: Sequence[ListedObject], pinned: Sequence[ListedObject]) -> None:
        """Takes the newest lists of objects."""
        self.home.show_recent(recent)
        pinned_keys = {entry.key for entry in pinned}
        self.side.show_recent([entry for entry in recent if entry.key not in pinned_keys])
        self.side.show_pinned(pinned)

    def ask_to_close(self, page: QWidget) -> None:
        """Closes a tab, unless there is something to ask first."""
        if self.may_close_page(page):
            self.close_page(page)

    def close_page(self, page: QWidget) -> None:
        self.tabs.remove_page(page)
        if isinstance(page, ObjectPage | PlainPage):
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
        self.top.people.show_people(people)
        self.top.show_object(None if page is None else page.kind.picture)
        # At home one must not overlook that something in a tab is not saved.
        told = page or next((one for one in self.object_pages() if one.state.problem), None)
        self._state_line.show_state(None if told is None else told.state, people, told)
        shown = self.front_page
        title = f"{shown.title} – " if isinstance(shown, ObjectPage | PlainPage) else ""
        self.setWindowTitle(f"{title}Live Objects")
        self.registry.show_view_actions(() if page is None else page.view.actions_here())
        self.registry.refresh()
        self.front_changed.emit()

    def show_network(self, network: NetworkWords) -> None:
        self.network = network
        self._state_line.show_network(network)
        self.network_changed.emit()

    @property
    def state_text(self) -> str:
        """What the state line says about the object in front."""
        return self._state_line.text

    @property
    def network_text(self) -> str:
        """What the state line says about the network."""
        return self._state_line.network_text

    def _place_in_front(self, word: str) -> bool:
        page = self.front
        return isinstance(page, ObjectPage) and page.view.place_new(self._kinds[word])

    # Parts that actions use

    def open_palette(self) -> None:
        self._palette.open()

    @property
    def palette_widget(self) -> CommandPalette:
        return self._palette

    def toggle_side(self) -> None:
        self._fold_wanted = not self.side.folded
        self.side.set_folded(self._fold_wanted)

    def next_part(self) -> None:
        """Takes the keyboard from the page to the side, to the top and back: also out of an editor
        that needs Tab for itself."""
        focused = self.focusWidget()
        if focused is not None and self.side.isAncestorOf(focused):
            self.top.search.setFocus(Qt.FocusReason.TabFocusReason)
        elif focused is not None and self.top.isAncestorOf(focused):
            self._focus_page()
        else:
            self.side.setFocus(Qt.FocusReason.TabFocusReason)

    def _focus_page(self) -> None:
        page = self.front_page
        (self.home if page is None else page).setFocus(Qt.FocusReason.TabFocusReason)

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

    def ask_what_to_open(self, title: str, filters: str, done: Callable[[Path], None]) -> None:
        """Asks for a file to read, without stopping the program."""
        dialog = QFileDialog(self, title, str(Path.home()), filters)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda file: done(Path(file)))
        dialog.open()

    def drag_out(self, page: QWidget | None) -> None:
        """Lets the person carry an object away: as a reference, a file and text."""
        if not isinstance(page, ObjectPage):
            return
        drag = QDrag(self)
        drag.setMimeData(mime_of(page.opened.opening.reference, page.title))
        ratio = self.devicePixelRatioF()
        drag.setPixmap(picture(self.theme, page.kind.picture, _DRAG_PICTURE, ratio))
        drag.exec(Qt.DropAction.CopyAction | Qt.DropAction.LinkAction)

    def object_icon_place(self) -> tuple[int, int] | None:
        """Where on the screen the picture is that one can drag away."""
        icon = self.top.object_icon
        if not icon.isVisible():
            return None
        centre = icon.mapToGlobal(icon.rect().center())
        return centre.x(), centre.y()

    def picture(self) -> QPixmap:
        """The window as it looks now, in the pixels of its screen."""
        for page in self.object_pages():
            page.view.show_newest()
        return self.grab()

    def _on_command(self, identity: str) -> None:
        page, focused = self.front, self.focusWidget()
        if page is not None and (focused is None or not page.isAncestorOf(focused)):
            page.setFocus()
        self.registry.run(identity)

    def _on_tab_menu(self, _page: QWidget, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.registry[name] for name in TAB_ACTIONS])
        menu.popup(place)

    # Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "side"):
            narrow = self.width() < _FOLD_BELOW_PX
            if self.side.folded != (narrow or self._fold_wanted):
                self.side.set_folded(narrow or self._fold_wanted)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.WindowStateChange:
            self.shown_changed.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_close():
            event.ignore()
            return
        super().closeEvent(event)
        self.closing.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        # What was dragged out of this window needs no opening.
        if event.source() is None and may_hold_references(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        dragged = read_drag(event.mimeData())
        if dragged.references or dragged.problems:
            self.references_dropped.emit(event.mimeData())
            event.acceptProposedAction()
