"""The one list of everything the program can do: menus, shortcuts, palette and tests share it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from widgets.action import Action
from widgets.palette_rows import Command


class ActionRegistry:
    """Actions by identity, and the Qt actions of one window made from them."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._actions: dict[str, Action] = {}
        self._qt: dict[str, QAction] = {}
        self._of_view: tuple[Action, ...] = ()

    def add(self, action: Action) -> QAction:
        """Registers an action; an identity or shortcut that is taken is a mistake of ours."""
        assert action.identity not in self._actions, f"{action.identity} is registered twice"
        keys = (other for other in self._actions.values() if other.shortcut and not other.yields)
        assert action.shortcut not in {other.shortcut for other in keys}, "the shortcut is taken"
        self._actions[action.identity] = action
        qt = QAction(action.title, self._window)
        if action.shortcut:
            qt.setShortcut(QKeySequence(action.shortcut))
            qt.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            qt.setToolTip(f"{action.title} ({qt.shortcut().toString()})")
        qt.setCheckable(action.checked is not None)
        qt.triggered.connect(lambda: self.run(action.identity))
        self._window.addAction(qt)
        self._qt[action.identity] = qt
        return qt

    def show_view_actions(self, actions: Sequence[Action]) -> None:
        """Takes what can be done in the view in front, in place of the former view's."""
        if tuple(actions) == self._of_view:
            return
        for action in self._of_view:
            del self._actions[action.identity]
            qt = self._qt.pop(action.identity)
            self._window.removeAction(qt)
            qt.deleteLater()
        self._of_view = tuple(actions)
        for action in actions:
            self.add(action)
        self._give_way({action.shortcut for action in actions})

    def _give_way(self, taken: set[str]) -> None:
        """Two actions with one key would both be dead: those that yield are without theirs while
        the view in front has it."""
        for identity, action in self._actions.items():
            if action.yields:
                key = "" if action.shortcut in taken else action.shortcut
                self._qt[identity].setShortcut(QKeySequence(key))

    def __getitem__(self, identity: str) -> QAction:
        return self._qt[identity]

    @property
    def actions(self) -> Sequence[Action]:
        return tuple(self._actions.values())

    def run(self, identity: str) -> bool:
        """Does it, if it can be done now; True if it was."""
        action = self._actions[identity]
        if action.why_not():
            return False
        action.run()
        self.refresh()
        return True

    def refresh(self) -> None:
        """Looks again at what can be done and what is in force."""
        for identity, action in self._actions.items():
            self._qt[identity].setEnabled(not action.why_not())
            if action.checked is not None:
                self._qt[identity].setChecked(action.checked())

    def commands(self) -> list[Command]:
        """The list for the command palette."""
        return [
            Command(
                action.identity,
                action.title,
                self._qt[action.identity].shortcut().toString(),
                action.why_not(),
            )
            for action in self._actions.values()
            if action.listed
        ]
