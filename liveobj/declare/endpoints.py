"""Owns reading an annotated class as an endpoint type: its events, their directions and
arguments."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from liveobj.declare.errors import DeclarationError
from liveobj.declare.hints import BadHint, Conversion, apply, conversion
from liveobj.formalisms import parse_constraints
from liveobj.types import (
    EndpointType,
    Field,
    Named,
    NotAConstraint,
    ObjectType,
    RecordType,
    Structure,
    dual,
)
from liveobj.types.constraints import Constraints
from liveobj.types.templates import substitute

Class = TypeVar("Class", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])
Target = TypeVar("Target")

_DIRECTION = "__live_direction__"
DECLARED = "__live_endpoint__"


class _DualMark:
    """Tells that an endpoint is the other end of the annotated class."""


# An endpoint that faces one of the named class: it sends what that one receives.
Dual = Annotated[Target, _DualMark]


def incoming(method: Method) -> Method:
    """Marks an event that the owner of the endpoint receives."""
    setattr(method, _DIRECTION, "incoming")
    return method


def outgoing(method: Method) -> Method:
    """Marks an event that the owner of the endpoint sends."""
    setattr(method, _DIRECTION, "outgoing")
    return method


@dataclass(frozen=True, slots=True)
class EventSignature:
    """How one class spells an event: its arguments in order, with their conversions. Another class
    may order them otherwise; on the way they are a record by name."""

    name: str
    arguments: tuple[tuple[str, Conversion], ...]
    defaults: tuple[tuple[str, Any], ...]
    doc: str

    @property
    def type(self) -> RecordType:
        optional = dict(self.defaults)
        return RecordType(
            Named({name: Field(c.type, name not in optional) for name, c in self.arguments})
        )

    def pack(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The plain record of a call; raises TypeError as a call would."""
        names = [name for name, _ in self.arguments]
        if len(args) > len(names):
            raise TypeError(f"'{self.name}' takes {len(names)} arguments, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names or name in given:
                raise TypeError(f"'{self.name}' has no argument '{name}', or got it twice")
            given[name] = value
        missing = [n for n in names if n not in given and n not in dict(self.defaults)]
        if missing:
            raise TypeError(f"'{self.name}' lacks {', '.join(missing)}")
        return {n: apply(c.to_plain, given[n]) for n, c in self.arguments if n in given}

    def unpack(self, record: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments for a handler of this class; unknown parts are left out."""
        return {n: apply(c.from_plain, record[n]) for n, c in self.arguments if n in record}


@dataclass(frozen=True, slots=True)
class EndpointDeclaration:
    """A class read as an endpoint type."""

    id: str
    cls: type
    type: EndpointType
    signatures: Named[EventSignature]

    def flipped(self) -> EndpointDeclaration:
        return EndpointDeclaration(self.id, self.cls, dual(self.type), self.signatures)


def endpoint_type(
    id: str,  # noqa: A002 (what it is called everywhere)
    *,
    provides: str = "",
    requires: str = "",
) -> Callable[[Class], Class]:
    """Declares a class as a type of endpoints. Its methods, marked `incoming` or `outgoing`, are
    the events; their hints say what events carry. The constraints speak of these events."""

    def declare(cls: Class) -> Class:
        setattr(cls, DECLARED, _read(cls, id, provides, requires, names_around()))
        return cls

    return declare


def reflect_endpoint(cls: Any) -> EndpointDeclaration:
    """The declaration of a class, or of `Dual[class]`; raises DeclarationError."""
    arguments = typing.get_args(cls) if typing.get_origin(cls) is Annotated else (cls,)
    plain = arguments[0]
    origin = typing.get_origin(plain) or plain
    declaration = getattr(origin, DECLARED, None)
    if not isinstance(declaration, EndpointDeclaration):
        raise DeclarationError(f"{cls!r} is not declared as a type of endpoints.")
    if origin is not plain:
        declaration = _specialise(declaration, typing.get_args(plain))
    return declaration.flipped() if _DualMark in arguments else declaration


def _specialise(declaration: EndpointDeclaration, hints: tuple[Any, ...]) -> EndpointDeclaration:
    """A generic endpoint class with its type parameters assigned, as in `Channel[bytes]`."""
    names = [variable.__name__ for variable in getattr(declaration.cls, "__parameters__", ())]
    try:
        assigned = {n: conversion(h).type for n, h in zip(names, hints, strict=True)}
    except BadHint as problem:
        raise DeclarationError(f"An argument of {declaration.cls.__name__}: {problem}.") from None
    whole = substitute(ObjectType(Named({"it": declaration.type})), assigned)
    return EndpointDeclaration(
        declaration.id, declaration.cls, whole.endpoints["it"], declaration.signatures
    )


def names_around() -> dict[str, Any]:
    """The local names where a decorator is applied, two calls up: hints are texts until they are
    read, and may name classes that are made inside a function."""
    frame = sys._getframe(2)
    return dict(frame.f_locals)


def _read(
    cls: type, id_: str, provides: str, requires: str, names: dict[str, Any]
) -> EndpointDeclaration:
    directions: dict[str, dict[str, RecordType]] = {"incoming": {}, "outgoing": {}}
    signatures: dict[str, EventSignature] = {}
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        direction = getattr(method, _DIRECTION, None)
        if direction is None:
            if not name.startswith("_"):
                raise DeclarationError(
                    f"'{name}' of {cls.__name__} is marked neither @incoming nor @outgoing.", method
                )
            continue
        signatures[name] = read_signature(name, method, names)
        directions[direction][name] = signatures[name].type
    if not signatures:
        raise DeclarationError(f"{cls.__name__} declares no events.", cls)
    received: Named[RecordType] = Named(directions["incoming"])
    sent: Named[RecordType] = Named(directions["outgoing"])
    structure = Structure(frozenset(received), frozenset(sent))
    type_ = EndpointType(
        received,
        sent,
        read_constraints(cls, provides, structure),
        read_constraints(cls, requires, structure),
    )
    return EndpointDeclaration(id_, cls, type_, Named(signatures))


def read_signature(
    name: str, method: Callable[..., Any], names: dict[str, Any] | None = None
) -> EventSignature:
    """How `method` spells the event `name`; raises DeclarationError at its line."""
    try:
        hints = typing.get_type_hints(method, localns=names, include_extras=True)
    except Exception as problem:
        raise DeclarationError(
            f"The hints of '{name}' cannot be read: {problem}.", method
        ) from None
    arguments: list[tuple[str, Conversion]] = []
    defaults: list[tuple[str, Any]] = []
    for parameter in list(inspect.signature(method).parameters.values())[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise DeclarationError(f"'{name}' cannot have *args or **kwargs.", method)
        if parameter.name not in hints:
            raise DeclarationError(f"'{parameter.name}' of '{name}' has no type hint.", method)
        try:
            arguments.append((parameter.name, conversion(hints[parameter.name])))
        except BadHint as problem:
            raise DeclarationError(
                f"'{parameter.name}' of '{name}' is no value for an event: {problem}.", method
            ) from None
        if parameter.default is not parameter.empty:
            defaults.append((parameter.name, parameter.default))
    if hints.get("return", type(None)) not in (None, type(None)):
        raise DeclarationError(f"'{name}' returns something, which no event does.", method)
    return EventSignature(name, tuple(arguments), tuple(defaults), inspect.getdoc(method) or "")


def read_constraints(cls: type, text: str, structure: Structure) -> Constraints:
    try:
        return parse_constraints(text, structure)
    except NotAConstraint as problem:
        raise DeclarationError(f"A constraint of {cls.__name__} is wrong. {problem}", cls) from None
