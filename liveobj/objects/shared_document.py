"""Owns an open object whose state is a replicated document: its keys, channel and copy on disk.

Text notes, maps, counters, logs and folders are all of this kind and differ in what their document
holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from liveobj.capabilities import EditSeal, ObjectKeys, new_object_keys
from liveobj.channels import DocumentChannel, Presence, PresenceEntry
from liveobj.channels.batches import BatchLog
from liveobj.documents import Document, DocumentError
from liveobj.errors import Problem
from liveobj.host import Host
from liveobj.objects.authorship import Authors
from liveobj.objects.set_apart import begin_again, keep_copy, mark_apart
from liveobj.observers import Observers, Subscription
from liveobj.references import (
    Fingerprint,
    Parameterized,
    Primitive,
    Reference,
    Secrets,
    Value,
    fingerprint,
    group_id_of,
)
from liveobj.references.errors import NotAReference
from liveobj.references.model import ValueData
from liveobj.storage import DocumentStore, ObjectStore
from transport.interfaces import GROUP_KEY_BYTES, Group
from transport.sentences import worded

# What a person does within a second is undone together.
UNDO_MERGE_MS = 1000
# What is said about the object as a whole, in every kind of document.
ABOUT = "about"
_TITLE = "title"
TITLE_CHARACTERS_MAX = 200


@dataclass(frozen=True, slots=True)
class SharedState:
    """What a window shows about an object. `people` counts this one too and is 0 while offline;
    `unsent` counts own changes that not all others have received; `problem` is a sentence about the
    disk while it refuses, `disk_full` whether it has no room; `warning` is one about damage that
    was found on opening; `draft` is true while something stands in a field of the object's view and
    is not entered into it yet."""

    title: str
    saved: bool
    unsent: int
    people: int
    catching_up: bool
    can_edit: bool
    problem: str | None
    warning: str | None = None
    draft: bool = False
    disk_full: bool = False


def new_shared(
    template_id: str,
    title: str,
    random_bytes: Callable[[int], bytes],
    arguments: Mapping[str, ValueData] | None = None,
) -> Parameterized:
    """The can-edit reference of an object that did not exist before."""
    keys = new_object_keys(random_bytes)
    assert keys.signing is not None, "new keys can sign"
    values = {"title": title, "verify_key": keys.verify, **(arguments or {})}
    return Parameterized(
        Primitive(template_id),
        {name: Value(data) for name, data in values.items()},
        secrets=Secrets({"group": keys.group, "signing": keys.signing}),
    )


@dataclass(frozen=True, slots=True)
class Description:
    """What the reference of such an object says, checked."""

    title: str
    keys: ObjectKeys


def describe_shared(reference: Reference, template_id: str, kind: str) -> Description:
    """Reads a reference; raises ReferenceProblem if it is not one to an object of this kind, which
    is called `kind` in sentences."""
    if not isinstance(reference, Parameterized) or reference.template != Primitive(template_id):
        raise NotAReference(worded("This live object is not a {kind}.", kind=kind), reference.line)
    title = _argument(reference, "title", kind)
    verify = _argument(reference, "verify_key", kind)
    if not isinstance(title, str) or not isinstance(verify, bytes):
        raise NotAReference(
            worded("The title or the key of this {kind} is of the wrong kind.", kind=kind),
            reference.line,
        )
    group = reference.secrets.keys.get("group")
    if group is None or len(group) != GROUP_KEY_BYTES:
        raise NotAReference(
            worded(
                "The key of this {kind}'s group is missing or damaged; ask for the file again.",
                kind=kind,
            ),
            reference.line,
        )
    keys = ObjectKeys(verify, group, reference.secrets.keys.get("signing"))
    try:
        EditSeal(keys.verify, keys.signing)
    except ValueError as problem:
        raise NotAReference(
            worded("The keys of this {kind} are damaged. {reason}", kind=kind, reason=problem)
        ) from None
    return Description(title, keys)


def _argument(reference: Parameterized, name: str, kind: str) -> ValueData:
    argument = reference.arguments.get(name)
    if not isinstance(argument, Value):
        raise NotAReference(
            worded("The parameter '{name}' of this {kind} is missing.", name=name, kind=kind),
            reference.line,
        )
    return argument.data


class SharedDocument:
    """An object that is open here; everything happens in the event loop's thread. Attributes:
    `closed`, whether it is open no longer."""

    def __init__(self, reference: Reference, host: Host, description: Description) -> None:
        self.reference = reference
        self.description = description
        self.fingerprint: Fingerprint = fingerprint(reference)
        self._host = host
        keys = description.keys
        seal = EditSeal(keys.verify, keys.signing)
        self.document = Document(
            host.new_peer_id(),
            undo_merge_ms=UNDO_MERGE_MS,
            editable=seal.can_sign,
            now=host.wall_time,
            mends=True,
        )
        self._about = self.document.map(ABOUT)
        self.authors = Authors(self.document, self.fingerprint.digest, host)
        self.prepare()
        batches = None if seal.can_sign else BatchLog()
        self._database = ObjectStore(host.folder / f"{self.fingerprint}.db")
        begin_again(self._database)
        self._store = DocumentStore(
            self.document, self._database, host.scheduler, batches, host.in_background
        )
        me = PresenceEntry(host.person.name, host.person.colour)
        self.channel = DocumentChannel(
            self.document, self._join_group(), host.scheduler, me, seal, batches, host.identity
        )
        self.channel.on_twin = self._on_twin
        self.channel.on_same_identity = self._renew_identity
        self._twin_warning: str | None = None
        self._apart = False
        self.presence: Presence = self.channel.presence
        self._observers: Observers[SharedState] = Observers()
        self._drafts: set[object] = set()
        self.closed = False
        self._state = self._read_state()
        self._subscriptions = [
            self._store.observe(lambda _: self._update_state()),
            self.channel.observe(lambda _: self._update_state()),
            self._about.observe(lambda _: self._update_state()),
            host.new_identity.observe(lambda _: self._renew_identity()),
        ]

    def prepare(self) -> None:
        """For subclasses: names the containers, before anything is loaded into them."""

    def _join_group(self) -> Group:
        return self._host.network.join(group_id_of(self.fingerprint), self.description.keys.group)

    @property
    def title(self) -> str:
        """The name that people gave it last, or else the one in the reference."""
        given = self._about.get(_TITLE)
        if isinstance(given, str) and given.strip():
            return given.strip()[:TITLE_CHARACTERS_MAX]
        return self.description.title

    def rename(self, title: str) -> None:
        """Gives it another name, for everybody; raises DocumentError if that is refused."""
        title = " ".join(title.split())
        if not title or len(title) > TITLE_CHARACTERS_MAX:
            raise DocumentError(
                worded("A title has 1 to {most} characters.", most=TITLE_CHARACTERS_MAX)
            )
        with self.document.transaction("rename"):
            self._about.set(_TITLE, title)

    @property
    def state(self) -> SharedState:
        return self._state

    def observe(self, callback: Callable[[SharedState], None]) -> Subscription:
        """Calls back after the state has changed."""
        return self._observers.observe(callback)

    def local(self, name: str) -> bytes | None:
        """What this person keeps about the object on this machine alone, such as a scroll
        position."""
        return self._store.local(name)

    def set_local(self, name: str, value: bytes) -> None:
        """Kept like a cookie; nobody else sees it. Raises StorageError if the disk refuses."""
        self._store.set_local(name, value)

    def set_draft(self, field: object, typed: bool) -> None:
        """Records whether something is typed into a field and not entered yet: it is on no disk."""
        if typed != (field in self._drafts):
            (self._drafts.add if typed else self._drafts.discard)(field)
            self._update_state()

    def leave(self) -> None:
        """Stays open, but takes no part for now: others' edits come after `rejoin`."""
        self.flush()
        self.channel.leave()

    def rejoin(self) -> None:
        """Takes part again, after `leave`; not if this copy was set apart."""
        if not self._apart:
            self.channel.join(self._join_group())

    # Two writers under one identity

    def _renew_identity(self) -> None:
        """Another program may write under the same identity: this one takes a new one, before it
        writes anything else."""
        if self.document.editable and not self._apart:
            self.channel.renew_identity(self._host.new_peer_id())
            self.authors.on_new_identity()
            self.on_new_identity()

    def on_new_identity(self) -> None:
        """For subclasses: the document writes under another identity from now on."""

    def _on_twin(self, other_is_senior: bool) -> None:
        """Somebody's copy differs from this one though both say that they have the same."""
        if self._apart:
            return
        self._renew_identity()
        if other_is_senior:
            self._set_apart()
        elif self._twin_warning is None:
            self._twin_warning = worded(
                "Another computer wrote under the same identity as this one, as after a virtual "
                "machine was copied. Its copy of this object differs; it was set apart there."
            )
        self._update_state()

    def _set_apart(self) -> None:
        """Nothing of this copy is lost: it becomes an object of its own; the others' copy comes
        with the next opening."""
        title = worded("{title} (other copy)", title=self.title)[:TITLE_CHARACTERS_MAX]
        host = self._host
        try:
            path = keep_copy(self.reference, title, self.document, host.folder, host.random_bytes)
            mark_apart(self._database)
        except Problem as problem:
            self._twin_warning = worded(
                "This copy differs from the others', and cannot be kept apart. {reason}",
                reason=problem,
            )
            return
        self._apart = True
        self.document.editable = False
        self.channel.withdraw()
        self._twin_warning = worded(
            "Two computers wrote under one identity, as after a virtual machine was copied, so "
            "this copy differs from the others'. It is kept as {file}. Close this object and open "
            "it again to go on with what the others have.",
            file=path,
        )

    def flush(self) -> bool:
        """Puts everything on the disk now; False if the disk refuses (see `state.problem`)."""
        return self._store.flush()

    def finish(self) -> bool:
        """Signs what was written and puts everything on the disk, as before the end; False if the
        disk refuses."""
        self.authors.sign()
        return self.flush()

    def close(self) -> None:
        """Saves, leaves the group and lets go of the database. Harmless when done twice."""
        for subscription in self._subscriptions:
            subscription.close()
        if self._subscriptions:
            self._subscriptions = []
            self.authors.close()
            self.channel.close()
            self._store.close()
            self.closed = True

    def _read_state(self) -> SharedState:
        channel = self.channel.state
        return SharedState(
            title=self.title,
            saved=self._store.saved,
            unsent=channel.unsent,
            people=channel.people,
            catching_up=channel.catching_up,
            can_edit=self.document.editable,
            problem=self._store.problem,
            warning=self._twin_warning or self._store.warning,
            draft=bool(self._drafts),
            disk_full=self._store.full,
        )

    def _update_state(self) -> None:
        state = self._read_state()
        if state != self._state:
            self._state = state
            self._observers.notify(state)
