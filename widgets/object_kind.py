"""What the program can show and make: a kind of object with its words, its picture and its view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from liveobj.documents import Document
from liveobj.documents.words import words_in
from liveobj.objects.catalogue import BY_TEMPLATE, Maker
from liveobj.opening import Opening
from liveobj.references import Parameterized, Primitive, Reference
from widgets.language import inside, tr
from widgets.object_view import ObjectView, Surroundings


@dataclass(frozen=True, slots=True)
class ObjectKind:
    """A standard object with a view. The template id joins the two: the object's line in
    `liveobj.objects.catalogue` gives `word`, which names the kind in commands and files, and
    `make`, which gives the can-edit reference of a new one from a title and random bytes.

    `title` names it on the screen; `sentence` says in one line what it is for. `icon` is a line
    icon; the drawing in assets/objects is called as the word. `text` gives what a search finds it
    by; without it, that is every word in its document. Raises LookupError, with a sentence, for an
    object that the catalogue does not list.
    """

    template_id: str
    title: str
    sentence: str
    icon: str
    view: Callable[[Surroundings, Opening], ObjectView]
    text: Callable[[Document], str] = words_in
    word: str = field(init=False)
    make: Maker = field(init=False)

    def __post_init__(self) -> None:
        standard = BY_TEMPLATE.get(self.template_id)
        if standard is None:
            raise LookupError(
                f"The kind '{self.title}' shows {self.template_id}, which is not in the table of "
                "liveobj/objects/catalogue.py. Add a line for it there."
            )
        object.__setattr__(self, "word", standard.word)
        object.__setattr__(self, "make", standard.make)

    @property
    def picture(self) -> str:
        """The name of its drawing in assets/objects."""
        return self.word

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
