"""Owns turning a reference into XML: the file that people pass on, and the canonical form by which
an object is known."""

from __future__ import annotations

import re
from pathlib import Path

from liveobj.references import xml_tree
from liveobj.references.errors import NotReadable
from liveobj.references.model import (
    Argument,
    Composite,
    External,
    ObjectTypeArgument,
    Parameterized,
    Port,
    Primitive,
    Reference,
    Value,
    ValueTypeArgument,
)
from liveobj.references.type_expressions import (
    NAMESPACE,
    element,
    type_element,
    value_type_element,
)
from liveobj.references.xml_tree import Element
from transport.sentences import worded
from transport.whole_file import write_whole

SCHEMA_VERSION = 1


def write_reference(reference: Reference, *, secrets: bool = True) -> bytes:
    """The text of a `.liveobject` file, secrets included unless told otherwise."""
    body = element_of(reference, secrets=secrets)
    attributes = (("version", str(SCHEMA_VERSION)), *reference.beside_attributes)
    return xml_tree.write(Element("liveobject", NAMESPACE, attributes, (body, *reference.beside)))


def write_reference_file(reference: Reference, path: Path) -> None:
    """Writes a file that nobody else on this PC can read, since it may hold keys: whole, or not at
    all."""
    try:
        write_whole(path, write_reference(reference))
    except OSError as problem:
        raise NotReadable(
            worded("The file cannot be written ({reason}).", reason=problem.strerror),
            file=str(path),
        ) from problem


def file_name(title: str) -> str:
    """A title as the name of a file, without ending: nothing in it that file systems forbid."""
    return re.sub(r'[/\\:*?"<>|\x00-\x1f\x7f]', "-", title).strip(" .")[:80] or "object"


def canonical_form(reference: Reference) -> bytes:
    """One spelling for each description: no secrets, sorted where order means nothing, one line.

    The version of the file's form is left out as well, since writing an object anew in a later form
    does not make it another object.
    """
    body = element_of(reference, secrets=False)
    return xml_tree.write(Element("liveobject", NAMESPACE, (), (body,)), pretty=False)


def element_of(reference: Reference, *, secrets: bool) -> Element:
    """The element of any kind of reference."""
    attributes: tuple[tuple[str, str], ...] = ()
    children: list[Element] = []
    match reference:
        case Primitive(id=identifier):
            name, attributes = "primitive", (("id", identifier),)
        case Parameterized():
            name, children = "parameterized", _parameterized(reference, secrets)
        case External(name=external_name, folder=folder):
            name, attributes = "external", (("name", external_name),)
            children = [element("from", element_of(folder, secrets=secrets))]
        case Composite():
            name, children = "composite", _composite(reference, secrets)
        case _:
            raise TypeError(f"{type(reference).__name__} is not a kind of reference")
    if reference.as_type is not None:
        children.insert(0, element("as", type_element(reference.as_type)))
    if secrets and reference.secrets.keys:
        children.append(_secrets(reference))
    return Element(
        name, NAMESPACE, (*attributes, *reference.extra), (*children, *reference.unknown)
    )


def _parameterized(reference: Parameterized, secrets: bool) -> list[Element]:
    children = [element("template", element_of(reference.template, secrets=secrets))]
    children += [
        element("parameter", _argument(reference.arguments[name], secrets), name=name)
        for name in sorted(reference.arguments)
    ]
    return children


def _composite(reference: Composite, secrets: bool) -> list[Element]:
    children = [
        element("component", element_of(reference.components[name], secrets=secrets), name=name)
        for name in sorted(reference.components)
    ]
    for connection in sorted(reference.connections, key=lambda c: (c.first, c.second)):
        ends = (_port(connection.first), _port(connection.second))
        children.append(element("connection", *ends))
    exports = sorted(reference.exports, key=lambda e: e.name)
    children += [element("export", _port(e.port), name=e.name) for e in exports]
    return children


def _port(port: Port) -> Element:
    return element("endpoint", name=port.endpoint, of=port.component)


def _argument(argument: Argument, secrets: bool) -> Element:
    match argument:
        case Value():
            return value_element(argument)
        case ValueTypeArgument(value_type):
            return value_type_element(value_type)
        case ObjectTypeArgument(expression):
            return type_element(expression)
    return element_of(argument, secrets=secrets)


def value_element(value: Value) -> Element:
    match value.data:
        case bool(data):
            kind, text = "boolean", "true" if data else "false"
        case int(data):
            kind, text = "integer", str(data)
        case float(data):
            kind, text = "number", repr(data)
        case bytes(data):
            kind, text = "bytes", data.hex()
        case str(data):
            kind, text = "text", data
    return element(kind, *((text,) if text else ()))


def _secrets(reference: Reference) -> Element:
    keys = (
        element("key", value.hex(), name=name)
        for name, value in sorted(reference.secrets.keys.items())
    )
    return element("secrets", *keys)
