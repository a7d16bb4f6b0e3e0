"""Owns the desktop: things placed on a plane that several people arrange together.

Every field of every item stands under a name of its own in one replicated map, so moves, sizes,
stacking, groups and names merge item by item and field by field: of two who move one item the same
one wins everywhere, and who moves it does not undo that somebody else has resized it. An item is
there as long as it says what it is; who deletes one wins over who moves it meanwhile. References
are kept whole, keys included, as in a folder: who may see a desktop may open what lies on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from liveobj.documents import Map, MapChange
from liveobj.documents.document import Document, Origin
from liveobj.documents.observing import Plain
from liveobj.documents.words import WORDS_CHARACTERS_MAX
from liveobj.host import Host
from liveobj.objects.desktop_items import (
    GROUP_DEPTH_MAX,
    IDENTITY_BYTES,
    TITLE_CHARACTERS_MAX,
    Field,
    Form,
    Frame,
    Item,
    bounded,
    key_of,
    read_item,
    split_key,
)
from liveobj.objects.shared_document import SharedDocument, describe_shared, new_shared
from liveobj.observers import Observers, Subscription
from liveobj.references import Parameterized, Reference, write_reference

TEMPLATE_ID = "live-objects:desktop"
ITEMS = "items"
NUDGE = "nudge"
_GAP_MIN = 1e-6


@dataclass(frozen=True, slots=True)
class ItemsChange:
    """The items that are new or different, and those that are gone."""

    origin: Origin
    label: str
    changed: frozenset[str]
    removed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Placing:
    """Something to be placed."""

    reference: bytes
    frame: Frame
    form: Form = Form.OBJECT
    title: str = ""


def new_desktop(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of a desktop that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


class Desktop(SharedDocument):
    """A desktop that is open here. Made by `open_desktop`. All that edit raise ReadOnly if this
    person may only look, and pass over items that are gone."""

    def prepare(self) -> None:
        self._map: Map = self.document.map(ITEMS)
        self._fields: dict[str, dict[str, Plain]] = {}
        self._items: dict[str, Item] = {}
        self._last_step = ""
        self._sorted: tuple[Item, ...] | None = None
        self._item_observers: Observers[ItemsChange] = Observers()
        self._map.observe(self._on_map)

    @property
    def items(self) -> Mapping[str, Item]:
        return self._items

    def in_order(self) -> Sequence[Item]:
        """All items, what lies lowest first."""
        if self._sorted is None:
            self._sorted = tuple(sorted(self._items.values(), key=lambda item: item.rank))
        return self._sorted

    def observe_items(self, callback: Callable[[ItemsChange], None]) -> Subscription:
        return self._item_observers.observe(callback)

    def together(self, identities: Iterable[str]) -> set[str]:
        """These items and all that are in a group with one of them."""
        known = {i for i in identities if i in self._items}
        outermost = {self._items[i].groups[0] for i in known if self._items[i].groups}
        if not outermost:
            return known
        return known | {
            item.identity
            for item in self._items.values()
            if item.groups and item.groups[0] in outermost
        }

    # Intents; each is one step of undo

    def place(self, reference: Reference | bytes, frame: Frame, form: Form = Form.OBJECT) -> str:
        """Puts an object on top of everything; returns what the item is known by."""
        written = reference if isinstance(reference, bytes) else write_reference(reference)
        return self.place_all([Placing(written, frame, form)])[0]

    def place_all(self, placings: Iterable[Placing]) -> list[str]:
        """Puts several on top, the last one highest."""
        order = self._highest()
        placed: list[str] = []
        with self._step("place"):
            for number, placing in enumerate(placings, 1):
                identity = self._new_identity()
                frame = bounded(placing.frame)
                what: Plain = {"form": str(placing.form), "reference": placing.reference}
                self._set(identity, Field.WHAT, what)
                self._set(identity, Field.PLACE, [frame.x, frame.y])
                self._set(identity, Field.SIZE, [frame.width, frame.height])
                self._set(identity, Field.ORDER, order + number)
                if placing.title:
                    self._set(identity, Field.TITLE, placing.title[:TITLE_CHARACTERS_MAX])
                placed.append(identity)
        return placed

    def arrange(self, frames: Mapping[str, Frame], label: str = "move") -> None:
        """Moves and resizes; only what is different is written."""
        with self._step(label):
            for identity, wanted in frames.items():
                item = self._items.get(identity)
                if item is None:
                    continue
                frame, before = bounded(wanted), item.frame
                if (frame.x, frame.y) != (before.x, before.y):
                    self._set(identity, Field.PLACE, [frame.x, frame.y])
                if (frame.width, frame.height) != (before.width, before.height):
                    self._set(identity, Field.SIZE, [frame.width, frame.height])

    def bring_to_front(self, identities: Collection[str]) -> None:
        self._restack(identities, len(self._items))

    def send_to_back(self, identities: Collection[str]) -> None:
        self._restack(identities, 0)

    def bring_forward(self, identities: Collection[str]) -> None:
        """Above the next item that lies above all of these."""
        ranks = [n for n, item in enumerate(self.in_order()) if item.identity in identities]
        if ranks:
            self._restack(identities, ranks[-1] + 2)

    def send_backward(self, identities: Collection[str]) -> None:
        ranks = [n for n, item in enumerate(self.in_order()) if item.identity in identities]
        if ranks:
            self._restack(identities, max(0, ranks[0] - 1))

    def group(self, identities: Collection[str]) -> None:
        """Makes one group of these items and their groups."""
        members = self.together(identities)
        if len(members) < 2:
            return
        group = self._new_identity()
        with self._step("group"):
            for identity in sorted(members):
                path: list[Plain] = [group, *self._items[identity].groups]
                self._set(identity, Field.GROUPS, path[:GROUP_DEPTH_MAX])

    def ungroup(self, identities: Collection[str]) -> None:
        """Takes the outermost groups of these items apart; groups inside them stay."""
        with self._step("ungroup"):
            for identity in sorted(self.together(identities)):
                inner: list[Plain] = [*self._items[identity].groups[1:]]
                if inner:
                    self._set(identity, Field.GROUPS, inner)
                else:
                    self._map.remove(key_of(identity, Field.GROUPS))

    def entitle(self, identity: str, title: str) -> None:
        """Gives an item a name on this desktop; an empty one takes it back."""
        title = " ".join(title.split())[:TITLE_CHARACTERS_MAX]
        with self._step("name"):
            if title and identity in self._items:
                self._set(identity, Field.TITLE, title)
            else:
                self._map.remove(key_of(identity, Field.TITLE))

    def delete(self, identities: Collection[str]) -> None:
        """Takes items off the desktop; the objects themselves live on."""
        with self._step("delete"):
            for identity in sorted(identities):
                for field in list(self._fields.get(identity, ())):
                    self._map.remove(f"{identity}/{field}")

    @contextmanager
    def _step(self, label: str) -> Iterator[None]:
        # What a person does with a mouse is undone gesture by gesture, however fast it was; key
        # presses that go on with the same are undone together.
        if label != NUDGE or self._last_step != NUDGE:
            self.document.undo_boundary()
        self._last_step = label
        with self.document.transaction(label):
            yield

    def _set(self, identity: str, field: Field, value: Plain) -> None:
        self._map.set(key_of(identity, field), value)

    def _new_identity(self) -> str:
        return self._host.random_bytes(IDENTITY_BYTES).hex()

    def _highest(self) -> float:
        return self.in_order()[-1].order if self._items else 0.0

    def _restack(self, identities: Collection[str], index: int) -> None:
        """Puts items, in the order they have among themselves, where `index` counts what lies
        below, themselves included."""
        order = self.in_order()
        moving = [item for item in order if item.identity in identities]
        below = [item for item in order[:index] if item.identity not in identities]
        above = [item for item in order[index:] if item.identity not in identities]
        if not moving or [*below, *moving, *above] == list(order):
            return
        low = below[-1].order if below else above[0].order - len(moving) - 1
        high = above[0].order if above else low + len(moving) + 1
        step = (high - low) / (len(moving) + 1)
        renumbered = moving
        if step < _GAP_MIN:
            # No room between two, who may have been placed at the same time: those above move up.
            renumbered, step = [*moving, *above], 1.0
        with self._step("restack"):
            for number, item in enumerate(renumbered, 1):
                self._set(item.identity, Field.ORDER, low + number * step)

    # What has changed

    def _on_map(self, change: MapChange) -> None:
        touched: set[str] = set()
        for key, value in change.updated.items():
            split = split_key(key)
            if split is not None:
                self._fields.setdefault(split[0], {})[split[1]] = value
                touched.add(split[0])
        for key in change.removed:
            split = split_key(key)
            if split is not None and split[0] in self._fields:
                self._fields[split[0]].pop(split[1], None)
                touched.add(split[0])
        changed, removed = self._read(touched)
        if changed or removed:
            self._sorted = None
            self._item_observers.notify(
                ItemsChange(change.origin, change.label, frozenset(changed), frozenset(removed))
            )

    def _read(self, touched: Iterable[str]) -> tuple[set[str], set[str]]:
        changed: set[str] = set()
        removed: set[str] = set()
        for identity in touched:
            fields = self._fields[identity]
            if not fields:
                del self._fields[identity]
            item = read_item(identity, fields)
            if item is None:
                if self._items.pop(identity, None) is not None:
                    removed.add(identity)
            elif item != self._items.get(identity):
                self._items[identity] = item
                changed.add(identity)
        return changed, removed


def open_desktop(reference: Reference, host: Host) -> Desktop:
    """Opens a desktop; raises ReferenceProblem for a reference that is not one's, StorageError if
    the disk refuses."""
    return Desktop(reference, host, describe_shared(reference, TEMPLATE_ID, "desktop"))


def names_given(document: Document) -> str:
    """The words on a desktop, for whoever searches: the names that things were given here. What is
    in the things themselves is found in them."""
    items = document.map(ITEMS)
    titles = (items.get(key) for key in items if key.endswith(f"/{Field.TITLE}"))
    return "\n".join(title for title in titles if isinstance(title, str))[:WORDS_CHARACTERS_MAX]
