"""Owns what a reference is: plain immutable data, from which nothing runs and nothing is fetched.

The kinds are those of thesis 2.1.5. Whoever reads, type-checks or dereferences one is elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from liveobj.references.errors import NotAReference
from liveobj.references.type_expressions import TypeExpression
from liveobj.references.xml_tree import Element
from liveobj.types import ValueType
from transport.sentences import worded

ID_PATTERN = re.compile(r"[a-z0-9][a-z0-9.-]*:[a-z0-9][a-z0-9./-]*")

ValueData = str | int | float | bool | bytes


@dataclass(frozen=True, slots=True)
class Value:
    """A primitive argument. The Python type of `data` is its kind: text, integer, number, boolean
    or bytes."""

    data: ValueData


@dataclass(frozen=True, slots=True)
class Secrets:
    """Keys that come with a reference and are no part of what it describes; each has a name."""

    keys: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))

    def without(self, name: str) -> Secrets:
        return Secrets({key: value for key, value in self.keys.items() if key != name})


NO_SECRETS = Secrets()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What all kinds have.

    `as_type` is an explicit cast. Parts of the file that this version does not know are kept and
    written again: `unknown` elements and `extra` attributes of the reference itself, which are part
    of who the object is, and what stands `beside` it in the file, attributes of the file's root
    included, which is not.
    """

    as_type: TypeExpression | None = None
    secrets: Secrets = NO_SECRETS
    unknown: tuple[Element, ...] = ()
    extra: tuple[tuple[str, str], ...] = ()
    beside: tuple[Element, ...] = ()
    beside_attributes: tuple[tuple[str, str], ...] = ()
    line: int = field(default=0, compare=False)


# A type argument is wrapped, so that it cannot be mistaken for a value.
@dataclass(frozen=True, slots=True)
class ValueTypeArgument:
    """The type of values, as the argument of a template."""

    type: ValueType


@dataclass(frozen=True, slots=True)
class ObjectTypeArgument:
    """The type of objects, as the argument of a template."""

    type: TypeExpression


Argument = Value | Reference | ValueTypeArgument | ObjectTypeArgument


@dataclass(frozen=True, slots=True)
class Primitive(Reference):
    """A protocol that every runtime knows, by a permanent identifier."""

    id: str

    def __post_init__(self) -> None:
        check_id(self.id, self.line)


@dataclass(frozen=True, slots=True)
class Parameterized(Reference):
    """A template with its parameters assigned."""

    template: Reference
    arguments: Mapping[str, Argument]


@dataclass(frozen=True, slots=True)
class External(Reference):
    """An object to be asked for by `name` from a `folder`, which is an object too. Its `as_type` is
    not optional: it tells the type without asking anybody."""

    name: str
    folder: Reference

    def __post_init__(self) -> None:
        if self.as_type is None:
            raise NotAReference(
                worded(
                    "The external object '{name}' does not say of which type it is ('as').",
                    name=self.name,
                ),
                self.line,
            )


@dataclass(frozen=True, slots=True, order=True)
class Port:
    """An endpoint of a component."""

    component: str
    endpoint: str

    def __str__(self) -> str:
        return f"endpoint '{self.endpoint}' of '{self.component}'"


@dataclass(frozen=True, slots=True)
class Connection:
    """Two endpoints joined. Which is first means nothing, so they are kept in one order."""

    first: Port
    second: Port
    line: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        first, second = sorted((self.first, self.second))
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)


@dataclass(frozen=True, slots=True)
class Export:
    """An endpoint of a component that the composite shows as its own, under `name`."""

    name: str
    port: Port
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Composite(Reference):
    """Objects that run side by side, connected to each other."""

    components: Mapping[str, Reference]
    connections: tuple[Connection, ...] = ()
    exports: tuple[Export, ...] = ()


def check_id(identifier: str, line: int = 0) -> None:
    if not ID_PATTERN.fullmatch(identifier):
        raise NotAReference(
            worded(
                "{identifier} is no identifier; one looks like 'live-objects:text-note'.",
                identifier=f"{identifier!r:.80}",
            ),
            line,
        )


AnyReference = TypeVar("AnyReference", bound=Reference)


def parts_of(reference: Reference) -> Iterator[tuple[str, Reference]]:
    """The references directly inside, each with the role that it has."""
    match reference:
        case Parameterized(template=template, arguments=arguments):
            yield "template", template
            for name in sorted(arguments):
                argument = arguments[name]
                if isinstance(argument, Reference):
                    yield f"parameter '{name}'", argument
        case External(folder=folder):
            yield "from", folder
        case Composite(components=components):
            for name in sorted(components):
                yield f"component '{name}'", components[name]
