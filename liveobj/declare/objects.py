"""Owns reading annotated classes as object types and as live objects, and the list of those
known."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from liveobj.declare.endpoints import (
    EndpointDeclaration,
    EventSignature,
    names_around,
    read_constraints,
    read_signature,
    reflect_endpoint,
)
from liveobj.declare.errors import DeclarationError, find_line
from liveobj.declare.hints import Conversion
from liveobj.references.model import ID_PATTERN
from liveobj.types import (
    Named,
    ObjectType,
    Parameter,
    ParameterKind,
    TypeTemplate,
    is_object_subtype,
    is_subtype,
)
from liveobj.types.objects import object_structure
from liveobj.types.values import TypeVariable, why_not_value_subtype

Class = TypeVar("Class", bound=type)

# Attributes that the runtime fills in, besides endpoints.
CONTEXT = "context"
DECLARED = "__live_object__"


@dataclass(frozen=True, slots=True)
class ValueParameter:
    """A parameter of a constructor."""

    conversion: Conversion
    optional: bool


@dataclass(frozen=True, slots=True)
class ObjectDeclaration:
    """A class read as an object type, or as an object or template that can be run (`runnable`)."""

    id: str
    cls: type
    title: str
    description: str
    type: ObjectType
    endpoints: Named[EndpointDeclaration]
    parameters: Named[ValueParameter]
    type_parameters: tuple[str, ...]
    handlers: Named[EventSignature]
    runnable: bool
    # Where its objects run, if that is not here: something with the methods of
    # `runtime.foreign.Elsewhere`, for whom this package is too low to know them.
    elsewhere: Any = None

    @property
    def template(self) -> TypeTemplate:
        """The type with its parameters; an object without any is a template of none."""
        found: dict[str, Parameter] = {
            name: Parameter(ParameterKind.VALUE, p.conversion.type, p.optional)
            for name, p in self.parameters.items()
        }
        for name in self.type_parameters:
            found[name] = Parameter(ParameterKind.VALUE_TYPE)
        return TypeTemplate(Named(found), self.type)

    @property
    def where(self) -> str:
        file, line = find_line(self.cls)
        return f"{file}:{line}"


class Declarations:
    """The objects and types that this program knows, by their permanent ids."""

    def __init__(self) -> None:
        self._by_id: dict[str, ObjectDeclaration] = {}

    def add(self, declaration: ObjectDeclaration) -> None:
        known = self._by_id.get(declaration.id)
        # The same class, read again because its module was loaded again, is no second object.
        if known is not None and _origin(known.cls) != _origin(declaration.cls):
            raise DeclarationError(
                f"The id '{declaration.id}' is that of {known.cls.__name__} ({known.where}) "
                "already. Ids are permanent and belong to one class.",
                declaration.cls,
            )
        self._by_id[declaration.id] = declaration

    def find(self, id_: str) -> ObjectDeclaration | None:
        return self._by_id.get(id_)

    def __iter__(self) -> Iterator[ObjectDeclaration]:
        return iter(list(self._by_id.values()))


def _origin(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


DECLARATIONS = Declarations()


def object_type(
    id: str,  # noqa: A002 (what it is called everywhere)
    *,
    provides: str = "",
    requires: str = "",
    into: Declarations = DECLARATIONS,
) -> Callable[[Class], Class]:
    """Declares a class as a type of live objects: its annotated attributes are the endpoints."""

    def declare(cls: Class) -> Class:
        declaration = _read(cls, id, provides, requires, names_around(), runnable=False)
        into.add(declaration)
        setattr(cls, DECLARED, declaration)
        return cls

    return declare


def live_object(
    id: str,  # noqa: A002 (what it is called everywhere)
    *,
    title: str = "",
    provides: str = "",
    requires: str = "",
    is_a: tuple[type, ...] = (),
    into: Declarations = DECLARATIONS,
) -> Callable[[Class], Class]:
    """Declares a class as a live object, or as a template of them if its constructor has
    parameters.

    Attributes annotated with endpoint classes are its endpoints; `on_<endpoint>_<event>` handles
    what comes in. Instances are proxies: one runs on each node. `is_a` names object types that it
    must be a subtype of, which is checked here and now.
    """

    def declare(cls: Class) -> Class:
        declaration = _read(cls, id, provides, requires, names_around(), runnable=True, title=title)
        for wanted in is_a:
            verdict = is_object_subtype(declaration.type, reflect_object(wanted).type)
            if not verdict:
                words = " ".join(verdict.sentences(cls.__name__, wanted.__name__))
                raise DeclarationError(f"{cls.__name__} is not a {wanted.__name__}: {words}", cls)
        into.add(declaration)
        setattr(cls, DECLARED, declaration)
        return cls

    return declare


def reflect_object(cls: type) -> ObjectDeclaration:
    declaration = getattr(cls, DECLARED, None)
    if not isinstance(declaration, ObjectDeclaration):
        raise DeclarationError(f"{cls!r} is not declared as a live object or as a type of them.")
    return declaration


def _read(
    cls: type,
    id_: str,
    provides: str,
    requires: str,
    names: dict[str, Any],
    *,
    runnable: bool,
    title: str = "",
) -> ObjectDeclaration:
    if not ID_PATTERN.fullmatch(id_):
        raise DeclarationError(
            f"'{id_}' is no id; one looks like 'example.com:counter' and never changes.", cls
        )
    endpoints = _endpoints(cls, names)
    structure = object_structure(Named({name: e.type for name, e in endpoints.items()}))
    doc = inspect.getdoc(cls) or ""
    object_type_ = ObjectType(
        Named({name: e.type for name, e in endpoints.items()}),
        read_constraints(cls, provides, structure),
        read_constraints(cls, requires, structure),
        name=cls.__name__,
    )
    return ObjectDeclaration(
        id=id_,
        cls=cls,
        title=title or cls.__name__,
        description=doc.split("\n")[0],
        type=object_type_,
        endpoints=endpoints,
        parameters=_parameters(cls, names) if runnable else Named(),
        type_parameters=tuple(v.__name__ for v in getattr(cls, "__parameters__", ())),
        handlers=_handlers(cls, endpoints, names) if runnable else Named(),
        runnable=runnable,
    )


def _endpoints(cls: type, names: dict[str, Any]) -> Named[EndpointDeclaration]:
    try:
        hints = typing.get_type_hints(cls, localns=names, include_extras=True)
    except Exception as problem:
        raise DeclarationError(
            f"The hints of {cls.__name__} cannot be read: {problem}.", cls
        ) from None
    found: dict[str, EndpointDeclaration] = {}
    for name, hint in hints.items():
        if name.startswith("_") or name == CONTEXT or typing.get_origin(hint) is typing.ClassVar:
            continue
        try:
            found[name] = reflect_endpoint(hint)
        except DeclarationError:
            raise DeclarationError(
                f"'{name}' of {cls.__name__} is annotated with something that is no endpoint type; "
                "an attribute of another kind begins with an underscore.",
                cls,
            ) from None
    return Named(found)


def _parameters(cls: type, names: dict[str, Any]) -> Named[ValueParameter]:
    init = getattr(cls, "__init__")  # noqa: B009 (of the class, not of an instance)
    if not inspect.isfunction(init):
        return Named()  # that of object, which takes nothing
    signature = read_signature("__init__", init, names)
    optional = dict(signature.defaults)
    return Named({name: ValueParameter(c, name in optional) for name, c in signature.arguments})


def _handlers(
    cls: type, endpoints: Named[EndpointDeclaration], names: dict[str, Any]
) -> Named[EventSignature]:
    """Every incoming event has a handler that takes it, and every handler has an event."""
    wanted = {
        f"on_{name}_{event}": (name, event)
        for name, endpoint in endpoints.items()
        for event in endpoint.type.incoming
    }
    told = {f"on_{name}_{what}" for name in endpoints for what in ("connected", "disconnected")}
    told |= {"on_start", "on_stop", "on_sleep", "on_hibernate", "on_wake"}
    found: dict[str, EventSignature] = {}
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("on_") or name in told:
            continue
        if name not in wanted:
            raise DeclarationError(
                f"'{name}' of {cls.__name__} handles no event: a handler is called "
                "on_<endpoint>_<event>.",
                method,
            )
        endpoint, event = wanted.pop(name)
        found[f"{endpoint}.{event}"] = _check_handler(
            read_signature(event, method, names), method, endpoints[endpoint]
        )
    for endpoint, event in wanted.values():
        raise DeclarationError(
            f"{cls.__name__} has no 'on_{endpoint}_{event}', and so cannot receive '{event}'.", cls
        )
    return Named(found)


def _check_handler(
    signature: EventSignature, method: Callable[..., Any], endpoint: EndpointDeclaration
) -> EventSignature:
    event = signature.name
    problem = why_not_value_subtype(endpoint.type.incoming[event], signature.type)
    if problem is not None and not _has_variables(signature):
        raise DeclarationError(
            f"'{method.__name__}' does not take what '{event}' brings: {problem}.", method
        )
    return signature


def _has_variables(signature: EventSignature) -> bool:
    return any(isinstance(c.type, TypeVariable) for _, c in signature.arguments)


def same_type(first: type, second: type) -> bool:
    """Whether two classes, written apart, declare the same endpoint type."""
    one, two = reflect_endpoint(first).type, reflect_endpoint(second).type
    return bool(is_subtype(one, two)) and bool(is_subtype(two, one))
