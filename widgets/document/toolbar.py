"""The quiet bar above a document: what can be done with words, one button each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from liveobj.richtext.model import COLOURS
from widgets.action import Action
from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind
from widgets.theme import Theme
from widgets.tool_row import ToolRow

# Icon and name of each action; None is a gap.
_BUTTONS: tuple[tuple[str, str] | None, ...] = (
    ("bold", "bold"),
    ("italic", "italic"),
    ("underline", "underline"),
    ("strikethrough", "strike"),
    ("code", "code"),
    None,
    ("list", "bullet"),
    ("list-ordered", "number"),
    ("list-checks", "check"),
    None,
    ("link", "link"),
    ("image", "image"),
    ("table", "table"),
)
_RIGHT = (("search", "find"), ("message-square", "comments"), ("history", "history"))
_STYLES = ("plain", "h1", "h2", "h3", "quote", "codeblock")


class Toolbar(ToolRow):
    """Buttons for actions; `run` does one by its name."""

    def __init__(
        self,
        theme: Theme,
        actions: Sequence[Action],
        run: Callable[[str], None],
        highlight: Callable[[str], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, parent)
        kind(self, "bar")
        self._theme = theme
        self._run = run
        self._actions = {action.identity.split(".", 1)[1]: action for action in actions}
        self._buttons: dict[str, QToolButton] = {}
        self.style_button = self._style_menu()
        self.add(self.style_button)
        for button in _BUTTONS:
            if button is None:
                self.add_gap()
            else:
                self.add_tool(self._button(*button))
                if button[1] == "code":
                    self.add_tool(self._highlight_menu(highlight))
        self.add_stretch()
        for icon, name in _RIGHT:
            self.add_tool(self._button(icon, name))

    def refresh(self, style: str) -> None:
        """Looks again at what is in force; `style` is the look of the paragraph at the caret."""
        for name, button in self._buttons.items():
            action = self._actions[name]
            button.setEnabled(not action.why_not())
            if action.checked is not None:
                button.setChecked(action.checked())
        name = next((n for n in _STYLES if n == style), "plain")
        self.style_button.setText(self._actions[name].title)
        self.style_button.setEnabled(not self._actions["plain"].why_not())

    def _button(self, icon: str, name: str) -> QToolButton:
        action = self._actions[name]
        button = QToolButton()
        button.setIconSize(QSize(18, 18))
        show_icon(button, self._theme, icon, "text")
        keys = f" ({action.shortcut})" if action.shortcut else ""
        button.setToolTip(action.title + keys)
        button.setAccessibleName(action.title)
        button.setCheckable(action.checked is not None)
        button.clicked.connect(lambda: self._press(name))
        self._buttons[name] = button
        return button

    def _press(self, name: str) -> None:
        self._run(name)
        action = self._actions[name]
        if action.checked is not None:
            self._buttons[name].setChecked(action.checked())

    def _style_menu(self) -> QToolButton:
        button = QToolButton()
        button.setText(self._actions["plain"].title)
        button.setMinimumWidth(28 * SPACE_PX)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        button.setIconSize(QSize(14, 14))
        show_icon(button, self._theme, "chevron-down", "muted")
        button.setAccessibleName(tr("Look of the paragraph"))
        menu = QMenu(button)
        for name in _STYLES:
            action = self._actions[name]
            entry = menu.addAction(action.title)
            entry.triggered.connect(lambda _checked=False, name=name: self._run(name))
        button.setMenu(menu)
        return button

    def _highlight_menu(self, highlight: Callable[[str], None]) -> QToolButton:
        button = QToolButton()
        button.setIconSize(QSize(18, 18))
        show_icon(button, self._theme, "highlighter", "text")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setToolTip(tr("Highlight"))
        button.setAccessibleName(tr("Highlight"))
        menu = QMenu(button)
        words = {
            "yellow": tr("Yellow"),
            "green": tr("Green"),
            "blue": tr("Blue"),
            "pink": tr("Pink"),
            "orange": tr("Orange"),
        }
        for colour in COLOURS:
            entry = menu.addAction(words[colour])
            entry.triggered.connect(lambda _checked=False, colour=colour: highlight(colour))
        menu.aboutToShow.connect(lambda: self._colour(menu))
        menu.addAction(tr("No colour")).triggered.connect(lambda: highlight(""))
        button.setMenu(menu)
        return button

    def _colour(self, menu: QMenu) -> None:
        for entry, colour in zip(menu.actions(), COLOURS, strict=False):
            pixmap = QPixmap(16, 16)
            pixmap.fill(self._theme.colour(f"mark_{colour}"))
            entry.setIcon(pixmap)
