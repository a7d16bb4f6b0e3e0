"""What one can do with objects: make, open, save, name, pin."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.kept_references import is_identity
from app.object_page import ObjectPage
from app.plain_page import PlainPage
from app.session import PLAIN, OpenObject, PlainObject, Session
from app.window import MainWindow
from liveobj.capabilities.joining import KeysDiffer
from liveobj.documents import DocumentError
from liveobj.errors import Problem
from liveobj.references import (
    Reference,
    ReferenceProblem,
    fingerprint,
    read_reference,
    read_reference_file,
)
from liveobj.references.compact import is_compact, read_compact
from liveobj.references.summary import summarize, title_of
from widgets.action import Action
from widgets.drag import REFERENCE_MIME, Dragged, read_drag, reference_files_in
from widgets.language import tr
from widgets.listed_object import ListedObject
from widgets.object_kind import ObjectKind
from widgets.preview import Preview, Remember
from widgets.state_words import not_saved_words

log = logging.getLogger(__name__)


def file_filter() -> str:
    return tr("Live objects (*.liveobject)")


def why_no_object(window: MainWindow) -> str:
    """Why an action on the object in front cannot be done."""
    return tr("no object is open") if window.front is None else ""


class ObjectActions:
    """Carries them out on session and window. `on_shown` is told of every page that was opened."""

    def __init__(self, session: Session, window: MainWindow, now: Callable[[], datetime]) -> None:
        self._session = session
        self._window = window
        self._now = now
        self.on_shown: Callable[[OpenObject], None] | None = None

    def begin(self) -> None:
        """Hears what the window is asked for; it has been built by now."""
        window = self._window
        window.references_dropped.connect(self._on_drop)
        window.open_asked.connect(self.open_known)
        window.pin_asked.connect(self._pin_listed)
        window.tabs.title_asked.connect(self._on_title)
        self.show_lists()

    def register(self) -> None:
        """Adds everything that can be done to the one list."""
        add, window = self._window.registry.add, self._window
        for kind in self._session.kinds:
            add(self._new_action(kind))
        no_object = lambda: why_no_object(window)  # noqa: E731
        for action in (
            Action("object.open", tr("Open…"), self._ask_open, "Ctrl+O"),
            Action("object.paste", tr("Open reference from clipboard"), self._open_copied),
            Action("object.save", tr("Save"), self._save, "Ctrl+S", no_object),
            Action(
                "object.rename",
                tr("Rename"),
                self._rename,
                "Shift+F2",
                self._why_no_rename,
                yields=True,
            ),
            Action(
                "object.pin",
                tr("Pin or unpin"),
                self._pin_front,
                "Ctrl+Shift+P",
                no_object,
                checked=self._is_pinned,
            ),
        ):
            add(action)

    def _new_action(self, kind: ObjectKind) -> Action:
        return Action(
            f"{kind.word}.new",
            tr("New {kind}", kind=kind.name_inside),
            lambda: self.new_object(kind),
            "Ctrl+N" if kind.word == "note" else "",
        )

    # Opening

    def new_object(self, kind: ObjectKind) -> None:
        what = tr("The new {kind}", kind=kind.name_inside)
        try:
            reference, _ = self._session.make(kind, self._now())
        except Problem as problem:
            self._tell_failure(what, problem)
        else:
            key = str(fingerprint(reference))
            self._open(lambda: self._session.open_known(key), what, key)

    def open_file(self, file: Path, *, behind: bool = False) -> bool:
        """Opens a reference file that is known; shows why if it cannot be opened."""
        how = lambda: self._session.open_file(file)  # noqa: E731
        return self._open(how, file.name, str(file), behind=behind)

    def open_known(self, key: str, *, behind: bool = False) -> bool:
        """Opens an object of the lists, or a file of a list of an earlier version."""
        if not is_identity(key):
            return self.open_file(Path(key), behind=behind)
        listed = (*self._session.recent.entries, *self._session.pinned.entries)
        titles = (entry.title for entry in listed if entry.key == key)
        name = next(titles, tr("The object"))
        return self._open(lambda: self._session.open_known(key), name, key, behind=behind)

    def receive_file(self, file: Path) -> bool:
        """Opens a file that may be anybody's: known ones live, others as a preview."""
        try:
            reference = read_reference_file(file)
        except ReferenceProblem as problem:
            self._tell_failure(file.name, problem)
            return False
        return self.receive(reference, file.absolute())

    def receive(self, reference: Reference, file: Path | None = None) -> bool:
        """The same for a reference. One that contradicts a known one is refused at once."""
        session = self._session
        known = session.find(reference) is not None or session.trusts(reference, file)
        if known or not session.kept.agrees_with(reference):
            return self._go_live(reference, file)
        self._show_preview(reference, file)
        return True

    def follow(self, reference: Reference) -> bool:
        """Opens what lies in an object that is live here: at once where that runs only what comes
        with the program, as it would if it were shown inside; else as a preview."""
        summary = summarize(reference, self._session.runtime.declarations)
        if summary.can_run and not summary.code and not summary.unknown:
            return self._go_live(reference, None)
        return self.receive(reference)

    def _go_live(self, reference: Reference, file: Path | None) -> bool:
        name = title_of(reference) or (file.name if file else tr("The object"))
        adds_rights = self._session.adds_rights(reference)
        opened = self._open(
            lambda: self._session.go_live(reference, file),
            name,
            "" if file is None else str(file),
            where="" if file is None else str(file),
        )
        if opened and adds_rights:
            self._window.notice.say(
                tr("From now on you can edit “{title}”: close it and open it again.", title=name)
            )
        return opened

    def _open(
        self,
        how: Callable[[], OpenObject | PlainObject],
        name: str,
        key: str = "",
        *,
        where: str = "",
        behind: bool = False,
    ) -> bool:
        try:
            opened = how()
        except KeysDiffer as problem:
            self._tell_failure(name, problem, behind=behind)  # trying again is of no use
            return False
        except Problem as problem:
            self._tell_failure(name, problem, key, behind=behind)
            return False
        self._window.show_object(opened, behind=behind)
        page = self._window.page_of(opened)
        if isinstance(page, PlainPage):
            self._watch(page)
        self._remember(opened, where or opened.where)
        if isinstance(opened, OpenObject):
            warning = opened.opening.shared.state.warning
            if warning is not None:
                self._window.notice.say(warning)
            if self.on_shown is not None:
                self.on_shown(opened)
        return True

    def _tell_failure(
        self, name: str, problem: Exception, key: str = "", *, behind: bool = False
    ) -> None:
        """Says why on a page of its own; what has a key may be tried again from there."""
        log.warning("cannot open %s: %s", name, problem)
        heading = tr("{name} cannot be opened", name=name)
        card = self._window.show_failure(heading, str(problem), key=key, behind=behind)

        def try_again() -> None:
            self._window.close_page(card)
            self.open_known(key)

        card.again.connect(try_again)

    def _watch(self, page: PlainPage) -> None:
        """What had to be asked for gets its own view when it is here."""
        if not page.property("watched"):
            page.setProperty("watched", True)
            page.found.connect(lambda reference: self._show_found(page, reference))
            found = page.now_found()
            if found is not None:
                self._show_found(page, found)

    def _show_found(self, page: PlainPage, reference: Reference) -> None:
        if self._session.kinds.of(reference) is None:
            return
        if self._open(lambda: self._session.go_live(reference), page.title):
            self._window.close_page(page)

    def _remember(self, opened: OpenObject | PlainObject, where: str) -> None:
        if isinstance(opened, OpenObject):
            title, word = opened.opening.title, opened.kind.word
        else:
            title, word = opened.showing.title, PLAIN
        self._session.recent.add(ListedObject(opened.identity, title, where, word))
        self.show_lists()

    def show_lists(self) -> None:
        self._window.show_lists(self._session.recent.entries, self._session.pinned.entries)

    def _show_preview(self, reference: Reference, file: Path | None) -> None:
        summary = summarize(reference, self._session.runtime.declarations)
        kind = self._session.kinds.of(reference)
        preview = Preview(
            self._window.theme,
            summary,
            "object" if kind is None else kind.picture,
            "" if kind is None else kind.title,
            "" if file is None else str(file.parent),
        )

        def go_live(remember: frozenset[Remember]) -> None:
            if Remember.FOLDER in remember and file is not None:
                self._session.trust.remember_folder(file.parent)
            if Remember.AUTHOR in remember and summary.maker is not None:
                self._session.trust.remember_author(summary.maker)
            if self._go_live(reference, file):
                self._window.close_page(preview)

        preview.go_live.connect(go_live)
        preview.dismissed.connect(lambda: self._window.close_page(preview))
        title = summary.title or tr("A live object")
        where = tr("Not live yet")
        self._window.show_page(preview, tr("Preview: {title}", title=title), where, "eye")

    def _ask_open(self) -> None:
        self._window.ask_for_files(tr("Open"), file_filter(), self._receive_files)

    def _receive_files(self, files: Sequence[Path]) -> None:
        for file in files:
            self.receive_file(file)

    def _open_copied(self) -> None:
        text = QGuiApplication.clipboard().text()
        try:
            reference = read_compact(text) if is_compact(text) else read_reference(text.encode())
        except (ReferenceProblem, UnicodeError) as problem:
            self._tell_failure(tr("What was copied"), problem)
            return
        self.receive(reference)

    def _on_drop(self, mime: QMimeData) -> None:
        files = [] if mime.hasFormat(REFERENCE_MIME) else reference_files_in(mime)
        self._receive_files(files)
        dragged = Dragged() if files else read_drag(mime)
        for reference in dragged.references:
            self.receive(reference)
        for problem in dragged.problems:
            self._window.notice.say(problem)

    # Titles and pins

    def _save(self) -> None:
        page = self._window.front
        assert page is not None, "the action is enabled only with an object in front"
        page.view.finish_typing()
        refused = [shared for shared in page.objects() if not shared.flush()]
        if not refused:
            self._window.notice.say(tr("Saved here. Every change is saved while you write."))
        else:
            self._window.notice.say(not_saved_words(page.state.disk_full))

    def _rename(self) -> None:
        self._window.tabs.edit_title(self._window.front)

    def _on_title(self, page: QWidget, title: str) -> None:
        if isinstance(page, ObjectPage):
            self.rename(page, title)

    def rename(self, page: ObjectPage, title: str) -> None:
        """Gives an object another title, for everybody."""
        try:
            page.opened.opening.shared.rename(title)
        except DocumentError as problem:
            self._window.notice.say(str(problem))
        self.on_title_changed(page)

    def on_title_changed(self, page: ObjectPage) -> None:
        """Shows the title that an object has now, in its tab and in the lists."""
        key, title = page.identity, page.title
        changed = [
            self._session.recent.rename(key, title),
            self._session.pinned.rename(key, title),
        ]
        if any(changed):
            self.show_lists()

    def _pin_front(self) -> None:
        page = self._window.front
        assert page is not None, "the action is enabled only with an object in front"
        where = page.opened.where
        entry = ListedObject(page.identity, page.title, where, page.kind.word)
        self._toggle_pin(entry)

    def _pin_listed(self, key: str) -> None:
        entries = (*self._session.recent.entries, *self._session.pinned.entries)
        entry = next((entry for entry in entries if entry.key == key), None)
        if entry is not None:
            self._toggle_pin(entry)

    def _toggle_pin(self, entry: ListedObject) -> None:
        pinned = self._session.pinned.toggle(entry)
        words = tr("Pinned to the side.") if pinned else tr("Taken off the side.")
        self._window.notice.say(words)
        self.show_lists()

    def _is_pinned(self) -> bool:
        page = self._window.front
        return page is not None and page.identity in self._session.pinned

    # What can be done now

    def _why_no_rename(self) -> str:
        page = self._window.front
        if page is None:
            return tr("no object is open")
        return "" if page.state.can_edit else tr("you can only read it")
