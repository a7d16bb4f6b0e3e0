"""The open objects as tabs; it keeps pages, not objects, and tells who asked for what."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QTabBar, QTabWidget, QToolButton, QWidget

from widgets.icons import icon, show_icon
from widgets.theme import Theme
from widgets.top_bar import icon_button

_TITLE_CHARACTERS_MAX = 32
_ICON_NAME = "icon_name"  # the property of a page that says what its tab shows


class ObjectTabs(QTabWidget):
    """Signals: `close_asked(page)` when its cross was pressed; `front_changed(page or None)`."""

    close_asked = Signal(QWidget)
    front_changed = Signal(object)

    def __init__(self, theme: Theme, new_action: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setDocumentMode(True)
        self.setMovable(True)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.tabBar().setExpanding(False)
        self.tabBar().setIconSize(QSize(16, 16))
        self.setCornerWidget(icon_button(theme, "plus", new_action), Qt.Corner.TopRightCorner)
        self.currentChanged.connect(lambda _: self.front_changed.emit(self.currentWidget()))
        theme.changed.connect(self._show_icons)

    def add_page(self, page: QWidget, title: str, where: str, icon_name: str) -> None:
        """Adds a tab and brings it to the front."""
        page.setProperty(_ICON_NAME, icon_name)
        index = self.addTab(page, icon(self._theme, icon_name, "muted"), "")
        self.rename_page(page, title)
        self.setTabToolTip(index, where)
        self.tabBar().setTabButton(index, QTabBar.ButtonPosition.RightSide, self._cross(page))
        self.setCurrentIndex(index)

    def rename_page(self, page: QWidget, title: str) -> None:
        """Shows the title that the object of a page has now."""
        index = self.indexOf(page)
        short = title if len(title) <= _TITLE_CHARACTERS_MAX else title[:31] + "…"
        self.setTabText(index, short.replace("&", "&&"))
        self.tabBar().setAccessibleTabName(index, title)

    def remove_page(self, page: QWidget) -> None:
        """Takes a tab away; the page itself belongs to whoever added it."""
        self.removeTab(self.indexOf(page))

    def pages(self) -> list[QWidget]:
        """From left to right."""
        pages = (self.widget(index) for index in range(self.count()))
        return [page for page in pages if page is not None]

    def _cross(self, page: QWidget) -> QToolButton:
        cross = QToolButton()
        show_icon(cross, self._theme, "x", "muted")
        cross.setIconSize(QSize(16, 16))
        cross.setFixedSize(22, 22)
        cross.setToolTip("Close")
        cross.setAccessibleName("Close this tab")
        cross.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        cross.clicked.connect(lambda: self.close_asked.emit(page))
        return cross

    def _show_icons(self) -> None:
        for index, page in enumerate(self.pages()):
            self.setTabIcon(index, icon(self._theme, page.property(_ICON_NAME), "muted"))
