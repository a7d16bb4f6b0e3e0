"""What one can do with the window and in it, whatever it shows."""

from __future__ import annotations

from collections.abc import Callable

from app.window import MainWindow
from widgets.action import Action
from widgets.language import tr


class ViewActions:
    """Undo, home, side, palette, end. `quit_program` ends the program."""

    def __init__(self, window: MainWindow, quit_program: Callable[[], None]) -> None:
        self._window = window
        self._quit = quit_program

    def register(self) -> None:
        window = self._window
        at_home = lambda: window.at_home  # noqa: E731
        for action in (
            Action("edit.undo", tr("Undo"), self._undo, "Ctrl+Z", self._why_no_undo),
            Action("edit.redo", tr("Redo"), self._redo, "Ctrl+Shift+Z", self._why_no_redo),
            Action(
                "palette.open",
                tr("Search or command"),
                window.open_palette,
                "Ctrl+K",
                listed=False,
            ),
            Action(
                "view.home", tr("Home"), window.show_home, "Ctrl+H", checked=at_home, yields=True
            ),
            Action(
                "view.side",
                tr("Fold or unfold the side"),
                window.toggle_side,
                "Ctrl+B",
                yields=True,
            ),
            Action("view.part", tr("Next part of the window"), window.next_part, "F6"),
            Action("program.quit", tr("Quit"), self._quit, "Ctrl+Q"),
        ):
            window.registry.add(action)

    def _undo(self) -> None:
        if self._window.front is not None:
            self._window.front.view.undo_edit()

    def _redo(self) -> None:
        if self._window.front is not None:
            self._window.front.view.redo_edit()

    def _why_no_undo(self) -> str:
        page = self._window.front
        if page is None:
            return tr("no object is open")
        return "" if page.view.can_undo else tr("nothing of yours to undo")

    def _why_no_redo(self) -> str:
        page = self._window.front
        if page is None:
            return tr("no object is open")
        return "" if page.view.can_redo else tr("nothing to redo")
