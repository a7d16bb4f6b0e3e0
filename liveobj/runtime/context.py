"""Owns what the runtime gives to an object: where it runs, what it was made from, and what it may
ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from liveobj.declare import ObjectDeclaration
from liveobj.host import Host
from liveobj.references import Fingerprint, Reference, fingerprint

if TYPE_CHECKING:
    from liveobj.runtime.proxy import ProxyReference
    from liveobj.runtime.runtime import Runtime


class Closable(Protocol):
    def close(self) -> None: ...


Resource = TypeVar("Resource", bound=Closable)


class Lease:
    """A share of a resource; the resource is closed with its last lease."""

    def __init__(self, value: Any, give_back: Callable[[], None], count: Callable[[], int]) -> None:
        self.value = value
        self._give_back: Callable[[], None] | None = give_back
        self._count = count

    @property
    def alone(self) -> bool:
        """Whether nobody else holds one."""
        return self._count() <= 1

    def close(self) -> None:
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back()


class Context:
    """An object gets one as its attribute `context`, if it is annotated with it."""

    def __init__(
        self, runtime: Runtime, reference: Reference, notify: Callable[[str], None]
    ) -> None:
        self._runtime = runtime
        self._notify = notify
        self.reference = reference

    @property
    def host(self) -> Host:
        return self._runtime.host

    @property
    def fingerprint(self) -> Fingerprint:
        return fingerprint(self.reference)

    def notice(self, sentence: str) -> None:
        """Tells the person at this machine something about this object."""
        self._notify(sentence)

    def dereference(self, reference: Reference) -> ProxyReference:
        """Starts a proxy of another object; whoever asks closes what is returned."""
        return self._runtime.dereference(reference)

    def declare(self, declaration: ObjectDeclaration) -> None:
        """Makes an object known to this program, as those are that it has imported; raises
        DeclarationError where the id is another's."""
        self._runtime.declarations.add(declaration)

    def listen(self, other: ProxyReference, endpoint: str, cls: Any, handler: object) -> None:
        """Connects a handler of this object to an endpoint of another; `cls` is the endpoint's
        class seen from this side. It ends with the other's proxy."""
        mine = self._runtime.new_endpoint(cls, handler)
        self._runtime.connect(mine.external, other.endpoint(endpoint))

    def keep(self, lease: Lease) -> None:
        """Holds a lease beyond the end of this proxy: until somebody closes it, or the runtime
        ends."""
        self._runtime.kept.add(lease)

    def share(self, key: object, make: Callable[[], Closable]) -> Lease:
        """A resource that several proxies on this node use together, such as a group or a database:
        made by the first who asks under `key`, closed with the last lease."""
        return self._runtime.resources.lease(key, make)


class Resources:
    """What is shared on this node, by key."""

    def __init__(self) -> None:
        self._held: dict[object, tuple[Closable, int]] = {}

    def __len__(self) -> int:
        return len(self._held)

    def lease(self, key: object, make: Callable[[], Closable]) -> Lease:
        value, count = self._held.get(key, (None, 0))
        if value is None:
            value = make()
        self._held[key] = (value, count + 1)
        return Lease(value, lambda: self._give_back(key), lambda: self._held[key][1])

    def _give_back(self, key: object) -> None:
        value, count = self._held[key]
        if count > 1:
            self._held[key] = (value, count - 1)
            return
        del self._held[key]
        value.close()
