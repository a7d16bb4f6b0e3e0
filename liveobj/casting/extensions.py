"""Owns the list of objects that can be put into a connection, and the offers made from it.

An extension is a live object with two endpoints, one for each side. It is offered where two
endpoints do not match but each matches one side of the extension; it is inserted only when somebody
says so. As it is part of the reference then, it runs on every node where the composite runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from liveobj.declare import DECLARATIONS, Declarations
from liveobj.references import Composite, Connection, Port, Primitive, Reference
from liveobj.types import EndpointType, matches

Make = Callable[[], Reference]


@dataclass(frozen=True, slots=True)
class Extension:
    """`near` and `far` name the endpoints of the object `id`; `make` gives a reference to a new
    one, with keys of its own where it needs some."""

    id: str
    near: str
    far: str
    title: str

    def reference(self, make: Make | None = None) -> Reference:
        return Primitive(self.id) if make is None else make()


@dataclass(frozen=True, slots=True)
class Offer:
    """An extension that fits between two ends; `turned` if its near side goes to the second."""

    extension: Extension
    turned: bool

    @property
    def sentence(self) -> str:
        return f"{self.extension.title}."

    def insert(
        self, composite: Composite, connection: Connection, make: Make | None = None
    ) -> Composite:
        """The composite with the extension put into `connection` (which need not be there yet)."""
        name = _free_name(composite, self.extension.id.rpartition(":")[2])
        near, far = Port(name, self.extension.near), Port(name, self.extension.far)
        first, second = (far, near) if self.turned else (near, far)
        kept = tuple(c for c in composite.connections if c != connection)
        joined = (Connection(connection.first, first), Connection(second, connection.second))
        components = {**composite.components, name: self.extension.reference(make)}
        return replace(composite, components=components, connections=(*kept, *joined))


def _free_name(composite: Composite, wanted: str) -> str:
    name, number = wanted, 1
    while name in composite.components:
        number += 1
        name = f"{wanted} {number}"
    return name


class Extensions:
    """Those that are known, in the order in which they are offered: the earlier, the simpler."""

    def __init__(self) -> None:
        self._extensions: list[Extension] = []

    def register(self, extension: Extension) -> None:
        if any(known.id == extension.id for known in self._extensions):
            raise ValueError(f"The extension '{extension.id}' is registered already.")
        self._extensions.append(extension)

    def offers(
        self, first: EndpointType, second: EndpointType, declarations: Declarations = DECLARATIONS
    ) -> Iterator[Offer]:
        """What could be put between two ends; nothing if they match without help."""
        if matches(first, second):
            return
        for extension in self._extensions:
            declaration = declarations.find(extension.id)
            if declaration is None:
                continue
            near = declaration.type.endpoints[extension.near]
            far = declaration.type.endpoints[extension.far]
            if matches(first, near) and matches(far, second):
                yield Offer(extension, turned=False)
            elif matches(first, far) and matches(near, second):
                yield Offer(extension, turned=True)


EXTENSIONS = Extensions()
