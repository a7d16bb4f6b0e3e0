"""Owns how types are written inside references: by the id of a declared type, or spelled out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from liveobj.formalisms import parse_constraint
from liveobj.references.errors import NotAReference
from liveobj.references.xml_tree import Element
from liveobj.types import (
    EndpointType,
    Field,
    ListType,
    MapType,
    Named,
    NotAConstraint,
    ObjectType,
    OptionalType,
    RecordType,
    ReferenceType,
    Scalar,
    Structure,
    ValueType,
    constraints,
)
from liveobj.types.constraints import Constraints
from liveobj.types.objects import object_structure
from liveobj.types.values import SCALARS, TypeVariable

NAMESPACE = "urn:live-objects:reference"


@dataclass(frozen=True, slots=True)
class NamedType:
    """A declared type by its id, with the arguments of its parameters if it is a template."""

    id: str
    arguments: Mapping[str, ValueType | TypeExpression] = field(default_factory=dict)
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class SpelledType:
    """A type written out: endpoints, events and constraints."""

    type: ObjectType
    line: int = field(default=0, compare=False)


TypeExpression = NamedType | SpelledType


# Writing


def element(tag: str, /, *children: Element | str, **attributes: str) -> Element:
    """An element of ours."""
    return Element(tag, NAMESPACE, tuple(sorted(attributes.items())), children)


def type_element(expression: TypeExpression) -> Element:
    if isinstance(expression, SpelledType):
        return _spelled(expression.type)
    children = []
    for name in sorted(expression.arguments):
        argument = expression.arguments[name]
        inner = value_type_element(argument) if isinstance(argument, ValueType) else None
        if inner is None:
            assert isinstance(argument, NamedType | SpelledType)
            inner = type_element(argument)
        children.append(element("argument", inner, name=name))
    return element("type", *children, id=expression.id)


def _spelled(type_: ObjectType) -> Element:
    children = [_endpoint(name, endpoint) for name, endpoint in type_.endpoints.items()]
    children += _constraints(type_.provided, type_.required)
    return element("type", *children)


def _endpoint(name: str, endpoint: EndpointType) -> Element:
    children = [
        element(direction, value_type_element(value), name=event)
        for direction, events in (("in", endpoint.incoming), ("out", endpoint.outgoing))
        for event, value in events.items()
    ]
    children += _constraints(endpoint.provided, endpoint.required)
    return element("endpoint", *children, name=name)


def _constraints(provided: Constraints, required: Constraints) -> list[Element]:
    return [
        element(kind, constraint.text, formalism=constraint.formalism_id)
        for kind, items in (("provides", provided), ("requires", required))
        for constraint in items.values()
    ]


def value_type_element(type_: ValueType) -> Element:
    match type_:
        case Scalar(name):
            return element("value-type", kind=name)
        case ListType(item):
            return element("value-type", value_type_element(item), kind="list")
        case MapType(item):
            return element("value-type", value_type_element(item), kind="map")
        case OptionalType(item):
            return element("value-type", value_type_element(item), kind="optional")
        case RecordType(fields):
            parts = (_field(name, f) for name, f in fields.items())
            return element("value-type", *parts, kind="record")
        case ReferenceType(None):
            return element("value-type", kind="reference")
        case ReferenceType(ObjectType() as inner):
            return element("value-type", _spelled(inner), kind="reference")
        case TypeVariable(name):
            return element("value-type", kind="variable", name=name)
    raise TypeError(f"{type_!r} cannot be written")


def _field(name: str, f: Field) -> Element:
    inner = value_type_element(f.type)
    return element("field", inner, name=name, **({} if f.required else {"optional": "true"}))


# Reading


def read_type(source: Element) -> TypeExpression:
    """The type that a `type` element stands for; raises NotAReference at its line."""
    if source.name != "type" or source.namespace != NAMESPACE:
        raise NotAReference(f"'{source.name}' is not a type.", source.line)
    identifier = source.attribute("id")
    if identifier is None:
        return SpelledType(_read_spelled(source), source.line)
    arguments: dict[str, ValueType | TypeExpression] = {}
    for child in source.elements:
        _expect(child, "argument")
        inner = _only(child)
        is_value = inner.name == "value-type"
        arguments[_name(child)] = read_value_type(inner) if is_value else read_type(inner)
    return NamedType(identifier, arguments, source.line)


def _read_spelled(source: Element) -> ObjectType:
    endpoints: dict[str, EndpointType] = {}
    for child in source.elements:
        if child.name in ("provides", "requires"):
            continue
        _expect(child, "endpoint")
        name = _name(child)
        if name in endpoints:
            raise NotAReference(f"The endpoint '{name}' is there twice.", child.line)
        endpoints[name] = _read_endpoint(child)
    structure = object_structure(Named(endpoints))
    provided, required = _read_constraints(source, structure)
    return ObjectType(Named(endpoints), provided, required)


def _read_endpoint(source: Element) -> EndpointType:
    events: dict[str, dict[str, ValueType]] = {"in": {}, "out": {}}
    for child in source.elements:
        if child.name in ("provides", "requires"):
            continue
        if child.name not in events:
            raise NotAReference(f"'{child.name}' is no part of an endpoint.", child.line)
        events[child.name][_name(child)] = read_value_type(_only(child))
    structure = Structure(frozenset(events["in"]), frozenset(events["out"]))
    provided, required = _read_constraints(source, structure)
    return EndpointType(Named(events["in"]), Named(events["out"]), provided, required)


def _read_constraints(source: Element, structure: Structure) -> tuple[Constraints, Constraints]:
    found: dict[str, list] = {"provides": [], "requires": []}  # type: ignore[type-arg]
    for child in source.elements:
        if child.name in found:
            formalism = child.attribute("formalism") or ""
            try:
                found[child.name].append(parse_constraint(formalism, child.text, structure))
            except NotAConstraint as problem:
                raise NotAReference(str(problem), child.line) from None
    return constraints(found["provides"]), constraints(found["requires"])


def read_value_type(source: Element) -> ValueType:
    _expect(source, "value-type")
    kind = source.attribute("kind") or ""
    if kind in SCALARS:
        return SCALARS[kind]
    match kind:
        case "list":
            return ListType(read_value_type(_only(source)))
        case "map":
            return MapType(read_value_type(_only(source)))
        case "optional":
            return OptionalType(read_value_type(_only(source)))
        case "record":
            return RecordType(Named(dict(_read_field(child) for child in source.elements)))
        case "variable":
            return TypeVariable(_name(source))
        case "reference":
            inner = list(source.elements)
            return ReferenceType(_read_spelled(inner[0]) if inner else None)
    raise NotAReference(f"'{kind:.40}' is no kind of value.", source.line)


def _read_field(source: Element) -> tuple[str, Field]:
    _expect(source, "field")
    required = source.attribute("optional") != "true"
    return _name(source), Field(read_value_type(_only(source)), required)


def _expect(source: Element, name: str) -> None:
    if source.name != name or source.namespace != NAMESPACE:
        raise NotAReference(f"'{source.name}' stands where '{name}' should.", source.line)


def _name(source: Element) -> str:
    name = source.attribute("name")
    if not name:
        raise NotAReference(f"The attribute 'name' of '{source.name}' is missing.", source.line)
    return name


def _only(source: Element) -> Element:
    children = list(source.elements)
    if len(children) != 1:
        raise NotAReference(
            f"'{source.name}' must hold exactly one part; here are {len(children)}.", source.line
        )
    return children[0]
