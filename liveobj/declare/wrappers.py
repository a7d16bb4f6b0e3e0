"""Owns the generated fronts and backs of endpoint classes, by which any class can stand for
another.

A front looks like its class: calling one of its methods makes a plain event. A back takes plain
events and calls handlers the way its class spells them. Both are made once per class, so n classes
need n fronts and n backs and not a wrapper for each pair (thesis 2.2.2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from liveobj.declare.endpoints import (
    DECLARED,
    EndpointDeclaration,
    EventSignature,
    reflect_endpoint,
)
from liveobj.declare.errors import DeclarationError
from liveobj.types import Named, is_subtype

PlainEvent = dict[str, Any]
Emit = Callable[[str, PlainEvent], None]
Face = TypeVar("Face")


@lru_cache(None)
def front_class(cls: type) -> type:
    """A subclass of `cls` whose events are handed to the function that an instance is made with."""
    declaration = reflect_endpoint(cls)

    def __init__(self: Any, emit: Emit, allowed: frozenset[str]) -> None:  # noqa: N807
        self._emit = emit
        self._allowed = allowed

    members: dict[str, Any] = {"__init__": __init__, "__slots__": ("_allowed", "_emit")}
    members |= {name: _method(s) for name, s in declaration.signatures.items()}
    return type(f"{cls.__name__}Front", (cls,), members)


def _method(signature: EventSignature) -> Callable[..., None]:
    name = signature.name

    def send(self: Any, *args: Any, **kwargs: Any) -> None:
        if name not in self._allowed:
            raise TypeError(f"'{name}' is received here, not sent.")
        self._emit(name, signature.pack(args, kwargs))

    send.__name__ = name
    send.__doc__ = signature.doc
    return send


def make_front(declaration: EndpointDeclaration, emit: Emit) -> Any:
    """The face that an endpoint shows to its owner: its outgoing events as methods."""
    return front_class(declaration.cls)(emit, frozenset(declaration.type.outgoing))


class Back:
    """Calls handlers with plain events, each the way the handler spells its arguments."""

    __slots__ = ("_handlers", "_signatures")

    def __init__(
        self, signatures: Named[EventSignature], handlers: dict[str, Callable[..., None]]
    ) -> None:
        self._signatures = signatures
        self._handlers = handlers

    def __call__(self, event: str, record: PlainEvent) -> None:
        self._handlers[event](**self._signatures[event].unpack(record))


def cast_endpoint(value: object, face: type[Face]) -> Face:
    """`value`, an object with the methods of one endpoint class, as one of another class.

    Legal if the type of the one is a subtype of the type of the other, whatever the classes; then a
    front of `face` is put before a back of the value's class.
    """
    if isinstance(value, face):
        return value
    wanted = reflect_endpoint(face)
    given = reflect_endpoint(_declared_class(value))
    verdict = is_subtype(given.type, wanted.type)
    if not verdict:
        words = " ".join(verdict.sentences(given.cls.__name__, face.__name__))
        raise DeclarationError(f"{given.cls.__name__} cannot stand for {face.__name__}: {words}")
    handlers = {name: getattr(value, name) for name in given.signatures}
    back = Back(given.signatures, handlers)
    kind: type = face
    front: Face = front_class(kind)(back, frozenset(wanted.signatures))
    return front


def _declared_class(value: object) -> type:
    for cls in type(value).__mro__:
        if DECLARED in cls.__dict__:
            return cls
    raise DeclarationError(f"{type(value).__name__} is not declared as a type of endpoints.")
