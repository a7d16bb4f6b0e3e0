"""What the user can do: registers every action and carries it out on session and window."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.object_page import ObjectPage
from app.session import OpenObject, Session, reference_text
from app.surroundings import ProgramSurroundings
from app.window import FILE_FILTER, MainWindow
from liveobj.errors import Problem
from liveobj.references import Reference, ReferenceProblem, write_reference_file
from liveobj.runtime.errors import Notice
from widgets.action import Action
from widgets.object_kind import ObjectKind
from widgets.roles import Mode
from widgets.state_line import NetworkWords

log = logging.getLogger(__name__)

_NO_OBJECT = "no object is open"


class Desk:
    """One window on one session. `remember_theme` is told what theme the user has chosen;
    `quit_program` ends the program; `now` is the local time, for the titles of new notes."""

    def __init__(
        self,
        session: Session,
        window: MainWindow,
        network: NetworkWords,
        remember_theme: Callable[[Mode], None],
        quit_program: Callable[[], None],
        now: Callable[[], datetime],
    ) -> None:
        self._session = session
        self._window = window
        self._remember_theme = remember_theme
        self._quit = quit_program
        self._now = now
        self._register()
        window.build(network, ProgramSurroundings(session, window, self.show_reference, now))
        self._notices = session.runtime.on_notice(self._on_notice)
        window.file_dropped.connect(lambda file: self.open_file(Path(file)))
        window.recent_asked.connect(lambda file: self.open_file(Path(file)))
        window.page_closed.connect(self._on_page_closed)
        window.closing.connect(quit_program)
        window.show_recent(session.recent.entries)

    def _register(self) -> None:
        add = self._window.registry.add
        window = self._window
        for kind in self._session.kinds:
            add(self._new_action(kind))
        add(Action("object.open", "Open…", self._ask_open, "Ctrl+O"))
        add(Action("object.paste", "Open reference from clipboard", self._open_copied))
        add(Action("object.save", "Save", self._save, "Ctrl+S", self._why_no_object))
        add(
            Action(
                "reference.save",
                "Save reference as…",
                self._ask_save_reference,
                "Ctrl+Shift+S",
                self._why_no_object,
            )
        )
        add(
            Action(
                "reference.copy",
                "Copy reference",
                self._copy_reference,
                "Ctrl+Shift+C",
                self._why_no_object,
            )
        )
        add(Action("object.close", "Close", self._close_front, "Ctrl+W", self._why_no_tab))
        add(Action("edit.undo", "Undo", self._undo, "Ctrl+Z", self._why_no_undo))
        add(Action("edit.redo", "Redo", self._redo, "Ctrl+Shift+Z", self._why_no_redo))
        add(
            Action("palette.open", "Search or command", window.open_palette, "Ctrl+K", listed=False)
        )
        at_home = lambda: window.at_home  # noqa: E731
        add(Action("view.home", "Home", window.show_home, "Ctrl+H", checked=at_home))
        add(Action("view.side", "Fold or unfold the side", window.toggle_side, "Ctrl+B"))
        add(Action("theme.toggle", "Switch between light and dark", self._toggle_theme, "Ctrl+D"))
        for mode in Mode:
            add(self._theme_action(mode))
        add(Action("program.quit", "Quit", self._quit, "Ctrl+Q"))

    # Objects

    def _new_action(self, kind: ObjectKind) -> Action:
        name = f"new {kind.title.lower()}"
        return Action(
            f"{kind.word}.new",
            name.capitalize(),
            lambda: self.new_object(kind),
            "Ctrl+N" if kind.word == "note" else "",
        )

    def new_object(self, kind: ObjectKind) -> None:
        what = f"The new {kind.title.lower()}"
        self._open(lambda: self._session.new_object(kind, self._now()), what)

    def open_file(self, file: Path) -> bool:
        """Opens a reference file; shows why if it cannot be opened."""
        return self._open(lambda: self._session.open_file(file), file.name)

    def _open(self, how: Callable[[], OpenObject], name: str) -> bool:
        try:
            opened = how()
        except Problem as problem:
            log.warning("cannot open %s: %s", name, problem)
            self._window.show_failure(f"{name} cannot be opened", str(problem))
            return False
        self._window.show_object(opened)
        self._window.show_recent(self._session.recent.entries)
        return True

    def show_reference(self, reference: Reference) -> None:
        """Shows what a reference from another object refers to."""
        self._open(lambda: self._session.open_reference(reference), "The object")

    def _open_files(self, files: list[Path]) -> None:
        for file in files:
            self.open_file(file)

    def _ask_open(self) -> None:
        self._window.ask_for_files("Open", FILE_FILTER, self._open_files)

    def _open_copied(self) -> None:
        text = QGuiApplication.clipboard().text()
        self._open(lambda: self._session.open_text(text), "What was copied")

    def _save(self) -> None:
        page = self._page()
        if page.opened.opening.shared.flush():
            self._window.notice.say("Saved here. Every change is saved while you write.")
        else:
            self._window.notice.say(page.state.problem or "The disk refuses to save.")

    def _ask_save_reference(self) -> None:
        page = self._page()
        self._window.ask_where_to_save(
            "Save reference as",
            f"{page.title}.liveobject",
            FILE_FILTER,
            lambda file: self.save_reference(page, file),
        )

    def save_reference(self, page: ObjectPage, file: Path) -> None:
        """Writes the reference of an open object to a file that one can hand to others."""
        try:
            write_reference_file(page.opened.opening.reference, file)
        except ReferenceProblem as problem:
            self._window.notice.say(str(problem))
            return
        what = page.kind.title.lower()
        self._window.notice.say(f"Saved {file.name}. Whoever opens it is in this {what} with you.")

    def _copy_reference(self) -> None:
        page = self._page()
        QGuiApplication.clipboard().setText(reference_text(page.opened.opening.reference))
        what = page.kind.title.lower()
        self._window.notice.say(f"Copied. Whoever pastes it here is in this {what} with you.")

    def _close_front(self) -> None:
        page = self._window.tabs.currentWidget()
        if page is not None:
            self._window.close_page(page)

    def _on_page_closed(self, page: QWidget) -> None:
        assert isinstance(page, ObjectPage)
        self._session.close(page.opened)

    def _on_notice(self, notice: Notice) -> None:
        self._window.notice.say(f"{notice.object_name}: {notice.sentence}")

    # Editing

    def _undo(self) -> None:
        self._page().view.undo_edit()

    def _redo(self) -> None:
        self._page().view.redo_edit()

    # Look

    def _theme_action(self, mode: Mode) -> Action:
        titles = {Mode.LIGHT: "Light theme", Mode.DARK: "Dark theme"}
        return Action(
            f"theme.{mode.value}",
            titles.get(mode, "Theme of the system"),
            lambda: self._set_theme(mode),
            checked=lambda: self._window.theme.mode is mode,
        )

    def _toggle_theme(self) -> None:
        self._set_theme(Mode.LIGHT if self._window.theme.dark else Mode.DARK)

    def _set_theme(self, mode: Mode) -> None:
        self._window.theme.set_mode(mode)
        self._remember_theme(mode)

    # What can be done now

    def _page(self) -> ObjectPage:
        page = self._window.front
        assert page is not None, "the action is enabled only with an object in front"
        return page

    def _why_no_object(self) -> str:
        return _NO_OBJECT if self._window.front is None else ""

    def _why_no_tab(self) -> str:
        return _NO_OBJECT if self._window.at_home else ""

    def _why_no_undo(self) -> str:
        page = self._window.front
        if page is None:
            return _NO_OBJECT
        return "" if page.view.can_undo else "nothing of yours to undo"

    def _why_no_redo(self) -> str:
        page = self._window.front
        if page is None:
            return _NO_OBJECT
        return "" if page.view.can_redo else "nothing to redo"

    # What other programs ask (see single_instance.py)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answers a request from the local socket."""
        match request:
            case {"do": "open", "files": [*files]} if all(isinstance(f, str) for f in files):
                results = [self.open_file(Path(file)) for file in files]
                self._window.activateWindow()
                self._window.raise_()
                return {"opened": sum(results)}
            case {"do": "describe"}:
                return self.describe()
            case {"do": "picture", "file": str(file)}:
                return {"saved": self._window.picture().save(file)}
        return {"error": "This version does not know the request."}

    def describe(self) -> dict[str, Any]:
        """What is on the screen, in words: for scripts, tests, and those who cannot see it."""
        front = self._window.front
        return {
            "window": self._window.windowTitle(),
            "state": self._window.state_text,
            "network": self._window.network_text,
            "objects": [
                {
                    "title": page.title,
                    "kind": page.kind.word,
                    "identity": str(page.opened.opening.identity),
                    "in_front": page is front,
                    "people": [person.name for person in page.people],
                    **page.view.describe(),
                }
                for page in self._window.object_pages()
            ],
        }
