"""The desk at which one sits: joins session, window and everything that can be done there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from app.neighbours import Neighbours
from app.network_profile import NetworkProfile
from app.object_actions import ObjectActions
from app.object_page import ObjectPage
from app.office import Office
from app.paths import Paths
from app.picture_file import save_picture
from app.plain_page import PlainPage
from app.prefetching import NO_FETCH_LOG, FetchLog, Prefetching
from app.quitting import Quitting
from app.restoring import Restoring
from app.scope_actions import Meetings, ScopeActions, scope_words
from app.searching import Searching
from app.session import OpenObject, Session
from app.settings import Settings, SettingsKeeper
from app.settings_actions import Facts, SettingsActions
from app.sharing import Sharing
from app.surroundings import ProgramSurroundings
from app.tab_actions import TabActions
from app.tour import Tour
from app.view_actions import ViewActions
from app.window import MainWindow
from liveobj.errors import Problem
from liveobj.references import Reference, group_id_of
from liveobj.runtime.errors import Notice
from widgets.action import Action
from widgets.card_page import CardPage
from widgets.error_card import ErrorCard
from widgets.language import tr
from widgets.object_kind import ObjectKind
from widgets.preview import Preview
from widgets.state_words import NetworkWords


@dataclass(frozen=True, slots=True)
class Around:
    """What a desk is given: the profile's folders and settings, words about the network and
    where in it one meets others, the end of the program, the local time, for the titles of new
    objects, and who logs what was fetched."""

    paths: Paths
    settings: SettingsKeeper
    network: NetworkWords
    meetings: Meetings
    quit_program: Callable[[], None]
    now: Callable[[], datetime]
    fetch_log: FetchLog = NO_FETCH_LOG


class Desk:
    """One window on one session. Attributes: `objects`, `office`, `neighbours`, `searching`,
    `sharing`, `restoring`, `choices`, `scopes`: what can be done, each by its noun."""

    def __init__(self, session: Session, window: MainWindow, around: Around) -> None:
        self._session = session
        self._window = window
        self._now = around.now
        self._closed = False
        settings = around.settings
        self.objects = ObjectActions(session, window, around.now)
        tabs = TabActions(session, window, self.objects.open_known)
        self.searching = Searching(session, window, around.paths)
        self.neighbours = Neighbours(session.runtime.host, window, self.objects, settings)
        near = self.neighbours.people
        self.office = Office(session, window, settings, near)
        self.sharing = Sharing(window, near, self.neighbours.hand_over)
        identity = session.runtime.host.identity
        facts = Facts(
            scope_words(around.meetings.scope),
            str(around.paths.data),
            "" if identity is None else identity.fingerprint,
        )
        self.choices = SettingsActions(window, settings, session.trust, facts, self._show_tour)
        self.scopes = ScopeActions(
            window,
            NetworkProfile.of(around.paths),
            around.meetings,
            lambda: session.person_name,
        )
        self.restoring = Restoring(
            window, self.objects, around.paths.open_now, session.runtime.host.in_background
        )
        self.quitting = Quitting(session, window, around.quit_program)
        views = ViewActions(window, self.quitting.ask_to_quit)
        for part in (
            self.objects,
            tabs,
            self.sharing,
            views,
            self.choices,
            self.scopes,
            self.office,
            self.searching,
        ):
            part.register()
        window.registry.add(
            Action("help.tour", tr("Make a table for a first look"), self._show_tour)
        )
        surroundings = ProgramSurroundings(session, window, self.show_reference, around.now)
        window.build(around.network, surroundings, self.searching)
        self.prefetching = Prefetching(
            session, around.paths, lambda: settings.now.prefetch, around.fetch_log
        )
        self.objects.on_shown = self._on_shown
        for watching in (self.objects, tabs, self.choices, self.scopes, self.office, self.quitting):
            watching.begin()
        window.page_closed.connect(self._on_page_closed)
        window.closing.connect(self.quitting.quit_now)
        self.neighbours.lobby.observe(lambda _: self.office.request())
        self._notices = session.runtime.on_notice(self._on_notice)
        settings.observe(self._on_settings)

    # What others ask for by name

    def new_object(self, kind: ObjectKind) -> None:
        self.objects.new_object(kind)

    def open_file(self, file: Path) -> bool:
        """Opens a reference file that is known; shows why if it cannot be opened."""
        return self.objects.open_file(file)

    def show_reference(self, reference: Reference) -> None:
        """Shows what a reference in an open object refers to."""
        self.objects.follow(reference)

    def _show_tour(self) -> None:
        try:
            file = Tour(self._session, self._now).make()
        except Problem as problem:
            self._window.notice.say(str(problem))
            return
        self.objects.open_file(file)

    def close(self) -> None:
        """The program ends: tabs are let go of, and stay on the list of what was open. Harmless
        when done twice."""
        if self._closed:
            return
        self._closed = True
        self.restoring.stop()
        self.scopes.close()
        self.neighbours.close()
        self.searching.close()
        self.prefetching.close()
        for page in self._window.tabs.pages():
            if isinstance(page, ObjectPage | PlainPage):
                page.close_page()

    def _on_shown(self, opened: OpenObject) -> None:
        self.searching.watch(opened)
        self.prefetching.opened(opened.opening.reference)

    def _on_page_closed(self, page: object) -> None:
        if isinstance(page, ObjectPage):
            self.searching.forget(page.opened)

    def _on_notice(self, notice: Notice) -> None:
        self._window.notice.say(f"{notice.object_name}: {notice.sentence}")

    def _on_settings(self, settings: Settings) -> None:
        self._session.introduce(settings.name, settings.colour)
        self._window.registry.refresh()
        self._window.show_front()

    def known_on_network(self) -> tuple[dict[int, str], dict[bytes, str]]:
        """Names of people by their node, and titles of what is open by its group."""
        lobby = self.neighbours.lobby
        people = {one.node: one.name for one in lobby.neighbours.values()}
        people[lobby.me] = self._session.person_name
        titles = {
            group_id_of(one.opening.identity): one.opening.title
            for one in self._session.open_objects
        }
        return people, {lobby.group_id: tr("people near"), **titles}

    # What other programs ask (see single_instance.py)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answers a request from the local socket."""
        match request:
            case {"do": "open", "files": [*files]} if all(isinstance(f, str) for f in files):
                live = request.get("live") is True
                take = self.objects.open_file if live else self.objects.receive_file
                results = [take(Path(file)) for file in files]
                self._window.activateWindow()
                self._window.raise_()
                return {"opened": sum(results)}
            case {"do": "describe"}:
                return self.describe()
            case {"do": "search", "text": str(text)}:
                self.searching.flush()
                return {"found": [found.title for found in self.searching(text)]}
            case {"do": "picture", "file": str(file)}:
                return {"saved": save_picture(self._window.picture(), Path(file))}
        return {"error": "This version does not know the request."}

    def describe(self) -> dict[str, Any]:
        """What is on the screen, in words: for scripts, tests, and those who cannot see it."""
        front = self._window.front
        card = self._window.front_page
        return {
            "window": self._window.windowTitle(),
            "state": self._window.state_text,
            "network": self._window.network_text,
            "question": self.quitting.question,
            "object_icon": self._window.object_icon_place(),
            "people": [f"{one.name}: {one.words}" for one in self.office.people()],
            "previews": [
                page.accessibleName()
                for page in self._window.tabs.pages()
                if isinstance(page, Preview)
            ],
            "failures": [
                page.accessibleName()
                for page in self._window.tabs.pages()
                if isinstance(page, ErrorCard)
            ],
            "recent": [entry.title for entry in self._session.recent.entries],
            "card": card.describe() if isinstance(card, CardPage) else {},
            "tools": self._window.side.toolbox.places(),
            "objects": [
                {
                    "title": page.title,
                    "kind": page.kind.word,
                    "identity": str(page.opened.opening.identity),
                    "in_front": page is front,
                    "people": [person.name for person in page.people],
                    "shared": _shared_state(page),
                    "warning": page.warning.text if page.warning.isVisible() else "",
                    **page.view.describe(),
                }
                for page in self._window.object_pages()
            ],
        }


def _shared_state(page: ObjectPage) -> dict[str, Any]:
    state = page.state
    return {"saved": state.saved and state.problem is None, "unsent": state.unsent}
