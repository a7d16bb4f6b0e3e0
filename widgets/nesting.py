"""Objects inside objects: what a view is given for those that it shows inside itself.

It knows which objects lie around, outermost first, so that nothing is ever shown inside itself.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from liveobj.opening import Opening
from liveobj.references import Fingerprint, Reference, fingerprint
from liveobj.runtime import CannotDereference
from widgets.language import tr
from widgets.object_kind import Kinds, ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.theme import Theme

DEPTH_MAX = 8


class Nested:
    """The surroundings of what is shown inside the object `identity`. Attributes: `chain`, the
    objects around, outermost first."""

    def __init__(self, around: Surroundings, identity: Fingerprint) -> None:
        self._around = around
        self.chain: tuple[Fingerprint, ...] = (*chain_of(around), identity)

    def why_not_inside(self, reference: Reference) -> str:
        """Why an object cannot be shown here; empty if it can."""
        identity = fingerprint(reference)
        if identity == self.chain[-1]:
            return tr("It cannot lie inside itself.")
        if identity in self.chain:
            return tr("It would show itself: this lies inside it already.")
        if len(self.chain) >= DEPTH_MAX:
            return tr("Too many objects lie inside each other; open it in its own tab.")
        return ""

    @property
    def theme(self) -> Theme:
        return self._around.theme

    @property
    def kinds(self) -> Kinds:
        return self._around.kinds

    def open(self, reference: Reference) -> Opening:
        problem = self.why_not_inside(reference)
        if problem:
            raise CannotDereference(problem)
        return self._around.open(reference)

    def view(self, opening: Opening) -> ObjectView:
        kind = self.kinds.of(opening.reference)
        if kind is None:
            return self._around.view(opening)  # which says why it has none
        return kind.view(self, opening)

    def show(self, reference: Reference) -> None:
        self._around.show(reference)

    def make(self, kind: ObjectKind, title: str = "") -> Reference:
        return self._around.make(kind, title)

    def recent(self, word: str) -> list[tuple[str, Reference]]:
        return self._around.recent(word)

    def knows(self, reference: Reference) -> bool:
        return self._around.knows(reference)

    def say(self, sentence: str) -> None:
        self._around.say(sentence)

    def ask_for_files(self, title: str, filters: str, done: Callable[[list[Path]], None]) -> None:
        self._around.ask_for_files(title, filters, done)

    def ask_where_to_save(
        self, title: str, name: str, filters: str, done: Callable[[Path], None]
    ) -> None:
        self._around.ask_where_to_save(title, name, filters, done)


def chain_of(around: Surroundings) -> tuple[Fingerprint, ...]:
    """The objects around a view, outermost first; none for the program's own."""
    return around.chain if isinstance(around, Nested) else ()
