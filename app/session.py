"""The objects that are open in this program, each in one tab; opens and closes them, knows no
window."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from weakref import WeakSet

from PySide6.QtCore import QLocale

from app.kept_references import KeptReferences
from app.object_lists import PinnedList, RecentList
from app.paths import Paths
from app.profile_conversion import ProfileConversion
from app.trust_book import TrustBook
from liveobj.capabilities import can_edit
from liveobj.errors import Problem
from liveobj.host import Host, TimerHandle
from liveobj.objects.catalogue import DECLARED
from liveobj.objects.shared_document import SharedDocument
from liveobj.opening import Opening
from liveobj.references import (
    Reference,
    fingerprint,
    read_reference_file,
    write_reference,
)
from liveobj.references.makers import signed_by
from liveobj.runtime import CannotDereference, Runtime
from liveobj.showing import Showing
from widgets.language import tr
from widgets.object_kind import Kinds, ObjectKind

assert DECLARED, "the standard objects are declared by being imported"

# How long an object that was closed stays, so that its good-bye reaches the others.
GOODBYE_S = 0.1
# The kind of what has no view of its own.
PLAIN = "object"


@dataclass(frozen=True, slots=True)
class OpenObject:
    """An open object, what it is, the profile's copy of its reference, and the path of the file
    that it came by, if by one."""

    opening: Opening
    kind: ObjectKind
    file: Path
    where: str = ""

    @property
    def identity(self) -> str:
        return str(self.opening.identity)


@dataclass(frozen=True, slots=True)
class PlainObject:
    """An open object that has no view of its own, or whose kind is not known yet."""

    showing: Showing
    file: Path
    where: str = ""

    @property
    def identity(self) -> str:
        return str(self.showing.identity)


class Session:
    """Opens, finds and closes objects. Attributes: `runtime`, `kinds`, `trust`, `kept` (the
    profile's copies of references), and the lists `recent` and `pinned`."""

    def __init__(self, host: Host, paths: Paths, kinds: Kinds) -> None:
        self.runtime = Runtime(host)
        self.kinds = kinds
        self._paths = paths
        self._open: dict[str, OpenObject | PlainObject] = {}
        self._closing: list[tuple[Opening, TimerHandle]] = []
        self._hidden = False
        self._person = (host.person.name, host.person.colour)
        self._shared: WeakSet[SharedDocument] = WeakSet()
        self.trust = TrustBook(paths.trust)
        self.kept = KeptReferences(paths.references, paths.objects)
        ProfileConversion(paths, self.kept).run()
        self.recent = RecentList(paths.recent, host.in_background)
        self.pinned = PinnedList(paths.pinned, host.in_background)

    @property
    def open_objects(self) -> Iterable[OpenObject]:
        return tuple(one for one in self._open.values() if isinstance(one, OpenObject))

    def unclosed(self) -> list[SharedDocument]:
        """Every document that is open here, in a tab, inside another, or until it is saved."""
        return [shared for shared in self._shared if not shared.closed]

    @property
    def closing(self) -> list[Opening]:
        """What was closed a moment ago, until the others have heard of it."""
        return [opening for opening, _ in self._closing]

    def find(self, reference: Reference) -> OpenObject | PlainObject | None:
        """The object if it is open."""
        return self._open.get(str(fingerprint(reference)))

    def recent_of(self, word: str) -> list[tuple[str, Reference]]:
        """Titles and references of what was open lately of one kind, latest first."""
        found = []
        for entry in self.recent.entries:
            if entry.kind == word:
                reference = self.kept.find(entry.key)
                if reference is not None:
                    found.append((entry.title, reference))
        return found

    def trusts(self, reference: Reference, file: Path | None) -> bool:
        """Whether it may go live without a question: it is known, or was live here before. One that
        has other keys than those that are known may not."""
        if not self.kept.agrees_with(reference):
            return False
        stored = self._paths.objects / f"{fingerprint(reference)}.db"
        return stored.exists() or self.trust.trusts(reference, file)

    def hide_person(self, hidden: bool) -> None:
        """Whether the others are told nothing about this person, in any object."""
        self._hidden = hidden
        for shared in self._shared:
            shared.presence.set_hidden(hidden)

    @property
    def person_name(self) -> str:
        """The name by which others know this program's user."""
        return self._person[0]

    def introduce(self, name: str, colour: str) -> None:
        """Goes by that name and colour, in every object."""
        self._person = (name, colour)
        for shared in self._shared:
            shared.presence.set_person(name, colour)

    # All that open raise a Problem, whose text is a sentence.

    def open_file(self, file: Path) -> OpenObject | PlainObject:
        """Opens what a file refers to; the same object again if it is open already."""
        return self.go_live(read_reference_file(file), file)

    def open_known(self, identity: str) -> OpenObject | PlainObject:
        """Opens an object that was live here, from the profile's copy of its reference."""
        return self.go_live(self.kept.get(identity))

    def go_live(self, reference: Reference, file: Path | None = None) -> OpenObject | PlainObject:
        """Opens a reference, with the keys that are known of it; from now on the profile has a copy
        of it. Raises KeysDiffer for one that has others."""
        whole = self.kept.completed(reference)
        found = self.find(whole)
        if found is not None:
            self.kept.keep(whole)
            return found
        return self._open_reference(whole, self._where(file))

    def adds_rights(self, reference: Reference) -> bool:
        """Whether it lets one edit what is open and can only be viewed; it has to be opened again
        for that."""
        found = self.find(reference)
        if not isinstance(found, OpenObject):
            return False
        return can_edit(reference) and not can_edit(found.opening.reference)

    def _where(self, file: Path | None) -> str:
        """The path of a file of the person's; those of the profile are nothing to them."""
        if file is None or file.absolute().parent == self._paths.references:
            return ""
        return str(file.absolute())

    def make(self, kind: ObjectKind, now: datetime, title: str = "") -> tuple[Reference, Path]:
        """Makes an object that did not exist before; its reference is kept in a file."""
        month = QLocale().standaloneMonthName(now.month)
        base = title or tr("{kind} {day} {month}", kind=kind.title, day=now.day, month=month)
        host = self.runtime.host
        made = kind.make(self.kept.free_title(base), os.urandom)
        reference = signed_by(made, host.identity, self._person[0])
        file = self.kept.keep(reference)
        self.trust.remember_object(reference)
        return reference, file

    def open_inside(self, reference: Reference) -> Opening:
        """Opens an object that is shown inside another; whoever asks closes it. Raises KeysDiffer
        where it is known by other keys."""
        self.kept.completed(reference)
        opening = Opening(self.runtime, reference)
        self._shared.add(opening.shared)
        opening.shared.presence.set_person(*self._person)
        opening.shared.presence.set_hidden(self._hidden)
        return opening

    def kind_of(self, reference: Reference) -> ObjectKind:
        kind = self.kinds.of(reference)
        if kind is None:
            raise CannotDereference(tr("There is no view of it in this version."))
        return kind

    def close(self, opened: OpenObject | PlainObject) -> None:
        """Closes it as soon as the others have heard of it."""
        if isinstance(opened, PlainObject):
            self._open.pop(str(opened.showing.identity), None)
            opened.showing.close()
            return
        opening = opened.opening
        self._open.pop(str(opening.identity), None)
        if opening.alone:
            opening.shared.presence.set_hidden(True)
        timer = self.runtime.host.scheduler.call_later(GOODBYE_S, lambda: self._let_go(opening))
        self._closing.append((opening, timer))

    def _let_go(self, opening: Opening) -> None:
        self._closing = [entry for entry in self._closing if entry[0] is not opening]
        opening.close()

    def say_goodbye(self) -> None:
        """Tells the others in every object that this person leaves; `close_all` is to follow."""
        for opened in self.open_objects:
            opened.opening.shared.presence.set_hidden(True)

    def close_all(self) -> None:
        for opened in list(self._open.values()):
            self.close(opened)
        for opening, timer in self._closing:
            timer.cancel()
            opening.close()
        self._closing = []
        self.runtime.close()

    def _open_reference(self, reference: Reference, where: str = "") -> OpenObject | PlainObject:
        kind, file = self.kinds.of(reference), self.kept.file(str(fingerprint(reference)))
        opened: OpenObject | PlainObject
        if kind is None:
            opened = PlainObject(Showing(self.runtime, reference), file, where)
        else:
            opened = OpenObject(self.open_inside(reference), kind, file, where)
        try:
            self.kept.keep(reference)  # only now: it has proved that it can be opened
        except Problem:
            _let_go_of(opened)
            raise
        self._open[opened.identity] = opened
        self.trust.remember_object(reference)
        return opened


def _let_go_of(opened: OpenObject | PlainObject) -> None:
    if isinstance(opened, OpenObject):
        opened.opening.close()
    else:
        opened.showing.close()


def reference_text(reference: Reference) -> str:
    """The reference as text that can be pasted into a mail or a chat."""
    return write_reference(reference).decode()
