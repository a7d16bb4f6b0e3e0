"""What the program can show and make: a kind of object with its words, its picture and its view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from liveobj.documents import Document
from liveobj.documents.words import words_in
from liveobj.opening import Opening
from liveobj.references import Parameterized, Primitive, Reference
from widgets.language import inside, tr
from widgets.object_view import ObjectView, Surroundings

Maker = Callable[[str, Callable[[int], bytes]], Reference]


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """`word` names it in commands and files, `title` on the screen; `sentence` says in one line
    what it is for. `picture` is a drawing in assets/objects, `icon` a line icon. `make` gives the
    can-edit reference of a new one from a title and a source of random bytes. `text` gives what a
    search finds it by; without it, that is every word in its document."""

    template_id: str
    word: str
    title: str
    sentence: str
    picture: str
    icon: str
    make: Maker
    view: Callable[[Surroundings, Opening], ObjectView]
    text: Callable[[Document], str] = words_in

    @property
    def name_inside(self) -> str:
        """Its title as it is written inside a sentence."""
        return inside(self.title)


class Kinds:
    """The kinds, in the order of the toolbox."""

    def __init__(self, kinds: Sequence[ObjectKind]) -> None:
        self._kinds = tuple(kinds)
        self._by_template = {kind.template_id: kind for kind in self._kinds}

    def __iter__(self) -> Iterator[ObjectKind]:
        return iter(self._kinds)

    def __getitem__(self, word: str) -> ObjectKind:
        return next(kind for kind in self._kinds if kind.word == word)

    def picture(self, word: str) -> str:
        """The drawing of a kind, or of an object in general for a word that is not known here."""
        return next((kind.picture for kind in self._kinds if kind.word == word), "object")

    def title(self, word: str) -> str:
        """The name of a kind on the screen, or of an object in general."""
        return next((kind.title for kind in self._kinds if kind.word == word), tr("Object"))

    def icon(self, word: str) -> str:
        """The line icon of a kind, or of an object in general."""
        return next((kind.icon for kind in self._kinds if kind.word == word), "box")

    def of(self, reference: Reference) -> ObjectKind | None:
        """The kind of what a reference refers to; None if there is no view of it here."""
        if isinstance(reference, Parameterized) and isinstance(reference.template, Primitive):
            return self._by_template.get(reference.template.id)
        return None
