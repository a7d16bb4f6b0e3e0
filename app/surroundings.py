"""What views are given of the program: opening, showing, making, asking."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from app.session import Session
from app.window import MainWindow
from liveobj.opening import Opening
from liveobj.references import Reference
from widgets.object_kind import Kinds, ObjectKind
from widgets.object_view import ObjectView
from widgets.theme import Theme


class ProgramSurroundings:
    """`show` opens a tab and tells what is wrong if it cannot; see `widgets.object_view`."""

    def __init__(
        self,
        session: Session,
        window: MainWindow,
        show: Callable[[Reference], None],
        now: Callable[[], datetime],
    ) -> None:
        self._session = session
        self._window = window
        self._now = now
        self.show = show
        self.ask_for_files = window.ask_for_files
        self.ask_where_to_save = window.ask_where_to_save

    @property
    def theme(self) -> Theme:
        return self._window.theme

    @property
    def kinds(self) -> Kinds:
        return self._session.kinds

    def open(self, reference: Reference) -> Opening:
        return self._session.open_inside(reference)

    def view(self, opening: Opening) -> ObjectView:
        return self._session.kind_of(opening.reference).view(self, opening)

    def make(self, kind: ObjectKind, title: str = "") -> Reference:
        return self._session.make(kind, self._now(), title)[0]

    def recent(self, word: str) -> list[tuple[str, Reference]]:
        return self._session.recent_of(word)

    def knows(self, reference: Reference) -> bool:
        return self._session.trusts(reference, None)

    def say(self, sentence: str) -> None:
        self._window.notice.say(sentence)
