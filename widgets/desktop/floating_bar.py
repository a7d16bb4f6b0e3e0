"""A bar of buttons that floats over the canvas, near the lower edge; what it does are actions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QToolButton, QWidget

from widgets.action import Action
from widgets.icons import show_icon
from widgets.look import SPACE_PX, float_above, kind
from widgets.theme import Theme
from widgets.tool_row import ToolRow

_ICON = QSize(18, 18)


class FloatingBar(ToolRow):
    """Groups of buttons with hairlines between them: an icon for each action."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        groups: Sequence[Sequence[tuple[str, Action]]],
        parent: QWidget,
    ) -> None:
        super().__init__(theme, parent)
        kind(self, "float")
        self.setAccessibleName(name)
        self._theme = theme
        self._buttons: list[tuple[QToolButton, Action]] = []
        self.set_margin(SPACE_PX)
        for number, group in enumerate(groups):
            if number:
                line = QFrame()
                kind(line, "upright")
                self.add(line)
            for icon_name, action in group:
                self.add_tool(self._button(icon_name, action))
        self.refresh()

    def _button(self, icon_name: str, action: Action) -> QToolButton:
        button = QToolButton()
        shortcut = f" ({action.shortcut})" if action.shortcut else ""
        button.setToolTip(f"{action.title}{shortcut}")
        button.setAccessibleName(action.title)
        button.setIconSize(_ICON)
        button.setCheckable(action.checked is not None)
        show_icon(button, self._theme, icon_name, "text")
        button.clicked.connect(lambda: self._run(action))
        self._buttons.append((button, action))
        return button

    def _run(self, action: Action) -> None:
        if not action.why_not():
            action.run()
        self.refresh()

    def refresh(self) -> None:
        """Looks again at what can be done and what is in force."""
        for button, action in self._buttons:
            button.setEnabled(not action.why_not())
            if action.checked is not None:
                button.setChecked(action.checked())

    def fit(self, room_px: int) -> None:
        """As wide as it wants to be, but no wider than there is room."""
        hint = self.sizeHint()
        self.resize(min(hint.width(), room_px), hint.height())

    def place(self, left: int, top: int) -> None:
        """Shows the bar there, with the one soft shadow."""
        if self.graphicsEffect() is None:
            float_above(self, self._theme)
        self.move(left, top)
        self.raise_()
