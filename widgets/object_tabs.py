"""The open objects as tabs; it keeps pages, not objects, and tells who asked for what."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFocusEvent, QIcon, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QTabBar, QTabWidget, QToolButton, QWidget

from liveobj.objects.shared_document import TITLE_CHARACTERS_MAX
from widgets.icons import icon, show_icon
from widgets.language import tr
from widgets.look import kind
from widgets.theme import Theme
from widgets.top_bar import icon_button

_TITLE_CHARACTERS_MAX = 32
_CROSSES_MAX = 30
_CROSS_PX = 22
# How far a tab is pulled out of the bar before it is dragged as an object.
_PULL_PX = 12
TITLE_TO_EDIT = "title_to_edit"  # the property of a page whose title can be written anew
_WARNS = "warns"  # the property of a page whose object is not saved
_WHERE = "where"  # the property of a page that says where its object is
_ICON_NAME = "icon_name"  # the property of a page that says what its tab shows


class TabBar(QTabBar):
    """Measures each text once: Qt asks for the size of every tab whenever one of them changes.

    Attributes: `measured` (how often that was). Signals: `laid_out`."""

    laid_out = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sizes: dict[tuple[str, bool], QSize] = {}
        self.measured = 0

    def tabSizeHint(self, index: int) -> QSize:
        # Qt also asks before a new tab has got its cross.
        bare = self.tabButton(index, QTabBar.ButtonPosition.RightSide) is None
        text = self.tabText(index)
        found = self._sizes.get((text, bare))
        if found is None:
            found = super().tabSizeHint(index)
            if bare:
                # Room for it; as much at the other side, as the text is in the middle.
                found.setWidth(found.width() + 2 * _CROSS_PX)
            self._sizes[text, bare] = found
            self.measured += 1
        return found

    def tabLayoutChange(self) -> None:
        super().tabLayoutChange()
        self.laid_out.emit()

    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._sizes.clear()
        super().changeEvent(event)


class ObjectTabs(QTabWidget):
    """Signals: `close_asked(page)` when its cross was pressed; `front_changed(page or None)`;
    `title_asked(page, title)` when another one was written into a tab; `menu_asked(page, where)`;
    `drag_asked(page)` when a tab is pulled out of the bar."""

    close_asked = Signal(QWidget)
    front_changed = Signal(object)
    title_asked = Signal(QWidget, str)
    menu_asked = Signal(QWidget, QPoint)
    drag_asked = Signal(QWidget)

    def __init__(self, theme: Theme, new_action: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        bar = TabBar()
        self.setTabBar(bar)
        self._many = False
        self._one_cross = self._cross()
        self._one_cross.setParent(bar)
        self._one_cross.hide()
        bar.laid_out.connect(self._place_cross)
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        bar.setExpanding(False)
        bar.setIconSize(QSize(16, 16))
        bar.setAccessibleName(tr("Open objects"))
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        bar.customContextMenuRequested.connect(self._on_menu)
        bar.installEventFilter(self)
        self.setCornerWidget(icon_button(theme, "plus", new_action), Qt.Corner.TopRightCorner)
        self.currentChanged.connect(lambda _: self._on_current())
        self.tabBarDoubleClicked.connect(lambda index: self.edit_title(self.widget(index)))
        theme.changed.connect(self._show_icons)

    def add_page(
        self, page: QWidget, title: str, where: str, icon_name: str, *, behind: bool = False
    ) -> None:
        """Adds a tab and brings it to the front, or leaves it `behind`."""
        page.setProperty(_ICON_NAME, icon_name)
        page.setProperty(_WHERE, where)
        index = self.addTab(page, icon(self._theme, icon_name, "muted"), _short(title))
        self.tabBar().setAccessibleTabName(index, title)
        self.setTabToolTip(index, where)
        if not self._many:
            self.tabBar().setTabButton(index, QTabBar.ButtonPosition.RightSide, self._cross(page))
        if not behind:
            self.setCurrentIndex(index)
        self._share_crosses()

    def rename_page(self, page: QWidget, title: str) -> None:
        """Shows the title that the object of a page has now."""
        index = self.indexOf(page)
        # Every new text lays all tabs out anew, and this is called in every frame.
        if self.tabText(index) != _short(title):
            self.setTabText(index, _short(title))
            self.tabBar().setAccessibleTabName(index, title)

    def warn_page(self, page: QWidget, warns: bool) -> None:
        """Marks the tab of a page whose object is not saved, or takes the mark away."""
        if bool(page.property(_WARNS)) == warns:
            return
        page.setProperty(_WARNS, warns)
        index = self.indexOf(page)
        self.setTabIcon(index, self._icon_of(page))
        where = str(page.property(_WHERE))
        self.setTabToolTip(index, tr("Not saved: {where}", where=where) if warns else where)

    def _icon_of(self, page: QWidget) -> QIcon:
        if page.property(_WARNS):
            return icon(self._theme, "triangle-alert", "danger")
        return icon(self._theme, page.property(_ICON_NAME), "muted")

    def edit_title(self, page: QWidget | None) -> None:
        """Lets the person write another title into the tab, where the page says it can have one."""
        title = None if page is None else page.property(TITLE_TO_EDIT)
        if page is None or not isinstance(title, str):
            return
        bar = self.tabBar()
        field = TitleField(title, bar)
        field.setGeometry(bar.tabRect(self.indexOf(page)).adjusted(4, 3, -4, -4))
        field.accepted.connect(lambda text: self.title_asked.emit(page, text))
        field.show()
        field.setFocus()

    def step(self, by: int) -> None:
        """Brings the next tab, or the one before, to the front; round and round."""
        if self.count():
            self.setCurrentIndex((self.currentIndex() + by) % self.count())

    def remove_page(self, page: QWidget) -> None:
        """Takes a tab away; the page itself belongs to whoever added it."""
        self.removeTab(self.indexOf(page))
        self._share_crosses()

    def pages(self) -> list[QWidget]:
        """From left to right."""
        pages = (self.widget(index) for index in range(self.count()))
        return [page for page in pages if page is not None]

    def _share_crosses(self) -> None:
        """Where there are many tabs, one cross lies over the one in front: Qt moves every button
        that belongs to a tab whenever one tab changes."""
        bar, side = self.tabBar(), QTabBar.ButtonPosition.RightSide
        many = self.count() > _CROSSES_MAX
        if many != self._many:
            self._many = many
            for index, page in enumerate(self.pages()):
                old = bar.tabButton(index, side)
                bar.setTabButton(index, side, None if many else self._cross(page))
                if old is not None:
                    old.deleteLater()
        self._one_cross.setVisible(many)
        self._place_cross()

    def _place_cross(self) -> None:
        rect = self.tabBar().tabRect(self.currentIndex())
        cross = self._one_cross
        cross.move(rect.right() - cross.width() - 6, rect.center().y() - cross.height() // 2)
        cross.raise_()

    def _on_current(self) -> None:
        self._place_cross()
        self.front_changed.emit(self.currentWidget())

    def _cross(self, page: QWidget | None = None) -> QToolButton:
        """Of a page, or of whichever is in front."""
        cross = QToolButton()
        show_icon(cross, self._theme, "x", "muted")
        cross.setIconSize(QSize(16, 16))
        cross.setFixedSize(_CROSS_PX, _CROSS_PX)
        cross.setToolTip(tr("Close"))
        cross.setAccessibleName(tr("Close this tab"))
        cross.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        cross.clicked.connect(lambda: self.close_asked.emit(page or self.currentWidget()))
        return cross

    def _show_icons(self) -> None:
        for index, page in enumerate(self.pages()):
            self.setTabIcon(index, self._icon_of(page))

    def _on_menu(self, place: QPoint) -> None:
        page = self.widget(self.tabBar().tabAt(place))
        if page is not None:
            self.setCurrentWidget(page)
            self.menu_asked.emit(page, self.tabBar().mapToGlobal(place))

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.tabBar() and isinstance(event, QMouseEvent):
            place = event.position().toPoint()
            if event.type() is QEvent.Type.MouseButtonRelease:
                return self._on_middle_button(event, place)
            held = bool(event.buttons() & Qt.MouseButton.LeftButton)
            pulled = place.y() < -_PULL_PX or place.y() > self.tabBar().height() + _PULL_PX
            if event.type() is QEvent.Type.MouseMove and held and pulled:
                self._let_go(event)
                self.drag_asked.emit(self.currentWidget())
                return True
        return super().eventFilter(watched, event)

    def _on_middle_button(self, event: QMouseEvent, place: QPoint) -> bool:
        page = self.widget(self.tabBar().tabAt(place))
        if event.button() is not Qt.MouseButton.MiddleButton or page is None:
            return False
        self.close_asked.emit(page)
        return True

    def _let_go(self, event: QMouseEvent) -> None:
        """The bar would go on moving the tab; it is told that the button is up."""
        up = QMouseEvent(
            QEvent.Type.MouseButtonRelease,
            event.position(),
            event.globalPosition(),
            Qt.MouseButton.LeftButton,
            Qt.MouseButton.NoButton,
            event.modifiers(),
        )
        QApplication.sendEvent(self.tabBar(), up)


def _short(title: str) -> str:
    """A title as a tab has room for it."""
    short = title if len(title) <= _TITLE_CHARACTERS_MAX else title[:31] + "…"
    return short.replace("&", "&&")


class TitleField(QLineEdit):
    """The title of a tab while it is written anew. Signals: `accepted(title)`."""

    accepted = Signal(str)

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        kind(self, "filter")
        self.setAccessibleName(tr("Title"))
        self.setMaxLength(TITLE_CHARACTERS_MAX)
        self.selectAll()
        self._before = title

    def _end(self, *, accept: bool) -> None:
        text = self.text().strip()
        if self.isVisible():
            self.hide()
            self.deleteLater()
            if accept and text and text != self._before:
                self.accepted.emit(text)

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._end(accept=True)
        elif event.key() == Qt.Key.Key_Escape:
            self._end(accept=False)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._end(accept=True)
