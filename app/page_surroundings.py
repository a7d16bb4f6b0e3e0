"""What the view of one page is given of the program: the page learns what is opened inside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from liveobj.objects.shared_document import SharedDocument
from liveobj.opening import Opening
from liveobj.references import Reference
from widgets.object_kind import Kinds, ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.theme import Theme


class PageSurroundings:
    """The program's, but `on_opened` is called with every object that is opened inside."""

    def __init__(self, program: Surroundings, on_opened: Callable[[SharedDocument], None]) -> None:
        self._program = program
        self._on_opened = on_opened

    @property
    def theme(self) -> Theme:
        return self._program.theme

    @property
    def kinds(self) -> Kinds:
        return self._program.kinds

    def open(self, reference: Reference) -> Opening:
        opening = self._program.open(reference)
        self._on_opened(opening.shared)
        return opening

    def view(self, opening: Opening) -> ObjectView:
        kind = self.kinds.of(opening.reference)
        if kind is None:
            return self._program.view(opening)  # which says why it has none
        return kind.view(self, opening)

    def show(self, reference: Reference) -> None:
        self._program.show(reference)

    def make(self, kind: ObjectKind, title: str = "") -> Reference:
        return self._program.make(kind, title)

    def recent(self, word: str) -> list[tuple[str, Reference]]:
        return self._program.recent(word)

    def knows(self, reference: Reference) -> bool:
        return self._program.knows(reference)

    def say(self, sentence: str) -> None:
        self._program.say(sentence)

    def ask_for_files(self, title: str, filters: str, done: Callable[[list[Path]], None]) -> None:
        self._program.ask_for_files(title, filters, done)

    def ask_where_to_save(
        self, title: str, name: str, filters: str, done: Callable[[Path], None]
    ) -> None:
        self._program.ask_where_to_save(title, name, filters, done)
