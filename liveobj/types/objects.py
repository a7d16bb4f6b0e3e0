"""Owns endpoint types τ = (I, O, C, C′) and object types Θ = (E, C, C′): plain immutable data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from liveobj.types.constraints import NO_CONSTRAINTS, Constraints, Structure
from liveobj.types.named import Named
from liveobj.types.values import ValueType

Events = Named[ValueType]

NO_EVENTS: Events = Named()
NO_ENDPOINTS: Named[EndpointType] = Named()


@dataclass(frozen=True, slots=True)
class EndpointType:
    """What passes through an endpoint, as seen by the proxy that owns it: the events it can receive
    (`incoming`, I) and send (`outgoing`, O), what it promises (`provided`, C) and expects of the
    other end (`required`, C′)."""

    incoming: Events = NO_EVENTS
    outgoing: Events = NO_EVENTS
    provided: Constraints = NO_CONSTRAINTS
    required: Constraints = NO_CONSTRAINTS

    @property
    def structure(self) -> Structure:
        return Structure(incoming=frozenset(self.incoming), outgoing=frozenset(self.outgoing))


@dataclass(frozen=True, slots=True)
class ObjectType:
    """The named endpoints (E) of an object, and what it promises (C) and expects (C′) as a whole.

    `name` is for people; types are equal when their structures are.
    """

    endpoints: Named[EndpointType] = NO_ENDPOINTS
    provided: Constraints = NO_CONSTRAINTS
    required: Constraints = NO_CONSTRAINTS
    name: str = field(default="", compare=False)

    @property
    def structure(self) -> Structure:
        return object_structure(self.endpoints)

    def __str__(self) -> str:
        return self.name or "{" + ", ".join(self.endpoints) + "}"


def object_structure(endpoints: Named[EndpointType]) -> Structure:
    """What constraints of an object with these endpoints can talk about."""
    return Structure.of_object({name: e.structure.events for name, e in endpoints.items()})


def dual(endpoint: EndpointType) -> EndpointType:
    """The other end: sends what `endpoint` receives and promises what it requires. It matches
    `endpoint`, and τ1 is a subtype of τ2 exactly if τ1 matches the dual of τ2."""
    return EndpointType(
        incoming=endpoint.outgoing,
        outgoing=endpoint.incoming,
        provided=endpoint.required,
        required=endpoint.provided,
    )


def map_values(type_: ObjectType, change: Callable[[ValueType], ValueType]) -> ObjectType:
    """The same object type with every event's value type changed."""

    def events(named: Events) -> Events:
        return Named({name: change(value) for name, value in named.items()})

    endpoints = {
        name: EndpointType(events(e.incoming), events(e.outgoing), e.provided, e.required)
        for name, e in type_.endpoints.items()
    }
    return ObjectType(Named(endpoints), type_.provided, type_.required, type_.name)
