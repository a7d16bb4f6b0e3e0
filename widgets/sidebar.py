"""The left side: navigation above, the toolbox of what can be made below; folds to icons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from widgets.home import RecentObject
from widgets.icons import show_icon, show_picture_icon
from widgets.look import SPACE_PX, kind, label, line
from widgets.object_kind import Kinds
from widgets.theme import Theme

_ICON = QSize(20, 20)
_PICTURE = QSize(40, 40)
_WIDTH_PX = 196
_FOLDED_PX = 60
_RECENT_MAX = 6


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that can be made: its picture, and the action that makes it."""

    picture: str
    title: str
    sentence: str
    action: QAction


class Sidebar(QFrame):
    """Attributes: `folded`. Signals: `open_recent(key)`."""

    open_recent = Signal(str)

    def __init__(
        self,
        theme: Theme,
        kinds: Kinds,
        navigation: Sequence[tuple[str, QAction]],
        tools: Sequence[Tool],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        kind(self, "side")
        self._theme = theme
        self._kinds = kinds
        self.folded = False
        self._rows: list[QToolButton] = []
        self._recent_rows: list[QToolButton] = []
        self._recent: tuple[RecentObject, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(*[2 * SPACE_PX] * 4)
        self._column.setSpacing(SPACE_PX // 2)
        for icon_name, action in navigation:
            self._column.addWidget(self._row(icon_name, action))
        self._recent_heading = label("RECENT", "section")
        self._recent_heading.setContentsMargins(2 * SPACE_PX, 4 * SPACE_PX, 0, SPACE_PX)
        self._column.addWidget(self._recent_heading)
        self._recent_at = self._column.count()
        self._column.addStretch(1)
        self._column.addWidget(line())
        # Heading or not, the first tool does not touch the line.
        self._column.addSpacing(SPACE_PX)
        self._toolbox_heading = label("TOOLBOX", "section")
        self._toolbox_heading.setContentsMargins(2 * SPACE_PX, 2 * SPACE_PX, 0, SPACE_PX)
        self._column.addWidget(self._toolbox_heading)
        self._tools = [self._tool(tool) for tool in tools]
        for button in self._tools:
            self._column.addWidget(button)
        self._column.addSpacing(SPACE_PX)
        self.show_recent(())
        self.set_folded(False)

    def set_folded(self, folded: bool) -> None:
        """Shows icons only, or icons and words."""
        self.folded = folded
        self.setFixedWidth(_FOLDED_PX if folded else _WIDTH_PX)
        style = Qt.ToolButtonStyle.ToolButtonIconOnly
        for row in self._rows:
            row.setToolButtonStyle(style if folded else Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for button in self._tools:
            button.setToolButtonStyle(
                style if folded else Qt.ToolButtonStyle.ToolButtonTextUnderIcon
            )
            button.setIconSize(_ICON * 1.4 if folded else _PICTURE)
        self._toolbox_heading.setVisible(not folded)
        self._show_recent_rows()

    def show_recent(self, recent: Sequence[RecentObject]) -> None:
        """Takes the newest list, latest first."""
        for row in self._recent_rows:
            self._column.removeWidget(row)
            row.deleteLater()
        self._recent_rows = []
        for number, entry in enumerate(recent[:_RECENT_MAX]):
            row = self._recent_row(entry)
            self._recent_rows.append(row)
            self._column.insertWidget(self._recent_at + number, row)
        self._show_recent_rows()

    def _show_recent_rows(self) -> None:
        shown = bool(self._recent_rows) and not self.folded
        self._recent_heading.setVisible(shown)
        for row in self._recent_rows:
            row.setVisible(shown)

    def _row(self, icon_name: str, action: QAction) -> QToolButton:
        row = _navigation_button(self._theme, icon_name, action.text())
        row.setToolTip(action.toolTip())
        row.clicked.connect(action.trigger)
        if action.isCheckable():
            row.setCheckable(True)
            row.setChecked(action.isChecked())
            action.toggled.connect(row.setChecked)
            row.clicked.connect(lambda: row.setChecked(action.isChecked()))
        self._rows.append(row)
        return row

    def _recent_row(self, entry: RecentObject) -> QToolButton:
        row = _navigation_button(self._theme, self._kinds.icon(entry.kind), "")
        words = row.fontMetrics().elidedText(
            entry.title, Qt.TextElideMode.ElideRight, _WIDTH_PX - 17 * SPACE_PX
        )
        row.setText(f"  {words.replace('&', '&&')}")
        row.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        row.setToolTip(entry.where)
        row.setAccessibleName(f"Open {entry.title}")
        row.clicked.connect(lambda: self.open_recent.emit(entry.key))
        return row

    def _tool(self, tool: Tool) -> QToolButton:
        button = QToolButton()
        kind(button, "tool")
        button.setText(tool.title)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setToolTip(tool.sentence)
        button.setAccessibleName(f"New {tool.title.lower()}")
        button.setAccessibleDescription(tool.sentence)
        show_picture_icon(button, self._theme, tool.picture)
        button.clicked.connect(tool.action.trigger)
        return button


def _navigation_button(theme: Theme, icon_name: str, text: str) -> QToolButton:
    button = QToolButton()
    kind(button, "navigation")
    button.setText(f"  {text}")  # the space between picture and words
    button.setAccessibleName(text)
    button.setIconSize(_ICON)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    show_icon(button, theme, icon_name, "muted")
    return button
