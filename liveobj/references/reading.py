"""Owns turning XML into a reference: every error is a sentence with its line, and nothing is
run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

from liveobj.references import xml_tree
from liveobj.references.errors import NotAReference, NotReadable, ReferenceProblem, TooNew
from liveobj.references.model import (
    Argument,
    Composite,
    Connection,
    Export,
    External,
    ObjectTypeArgument,
    Parameterized,
    Port,
    Primitive,
    Reference,
    Secrets,
    Value,
    ValueData,
    ValueTypeArgument,
)
from liveobj.references.type_expressions import (
    NAMESPACE,
    TypeExpression,
    read_type,
    read_value_type,
)
from liveobj.references.writing import SCHEMA_VERSION
from liveobj.references.xml_tree import Element
from transport.sentences import worded


def read_reference_file(path: Path) -> Reference:
    """The reference in a `.liveobject` file; raises ReferenceProblem."""
    try:
        if path.exists() and not path.is_file():
            # Opening a pipe or a device might never return.
            raise NotReadable(worded("This is not a file."), file=str(path))
        with path.open("rb") as file:
            data = file.read(xml_tree.SIZE_BYTES_MAX + 1)
    except OSError as problem:
        raise NotReadable(
            worded("The file cannot be read ({reason}).", reason=problem.strerror), file=str(path)
        ) from problem
    try:
        return read_reference(data)
    except ReferenceProblem as problem:
        raise problem.in_file(str(path)) from None


def read_reference(data: bytes) -> Reference:
    """The reference in the text of a `.liveobject` file; raises ReferenceProblem."""
    root = xml_tree.parse(data)
    if root.name != "liveobject" or root.namespace != NAMESPACE:
        raise NotAReference(worded("This is XML, but not a live object."), root.line)
    _check_version(root)
    bodies = [child for child in root.elements if child.namespace == NAMESPACE]
    if len(bodies) != 1:
        raise NotAReference(
            worded("A live object holds one reference; here are {count}.", count=len(bodies)),
            root.line,
        )
    return replace(
        reference_of(bodies[0]),
        beside=tuple(child for child in root.elements if child.namespace != NAMESPACE),
        beside_attributes=tuple(item for item in root.attributes if item[0] != "version"),
    )


def _check_version(root: Element) -> None:
    text = root.attribute("version")
    if text is None:
        raise NotAReference(worded("The attribute 'version' is missing."), root.line)
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10):
        raise NotAReference(
            worded("The version {text} is not a number.", text=f"{text[:20]!r}"), root.line
        )
    if int(text) > SCHEMA_VERSION:
        raise TooNew(
            worded(
                "This object was written in form {text}, and this program knows forms up to "
                "{most}. Please update Live Objects.",
                text=text,
                most=SCHEMA_VERSION,
            ),
            root.line,
        )


def reference_of(element: Element) -> Reference:
    """The reference that an element of any kind describes."""
    read = _KINDS.get(element.name) if element.namespace == NAMESPACE else None
    if read is None:
        known = ", ".join(sorted(_KINDS))
        raise NotAReference(
            worded(
                "'{name}' is not a kind of reference; those are {known}.",
                name=element.name,
                known=known,
            ),
            element.line,
        )
    if element.text.strip():
        raise NotAReference(
            worded("There is text inside '{name}'.", name=element.name), element.line
        )
    return read(element)


class _Common(TypedDict):
    """What all kinds of references have."""

    as_type: TypeExpression | None
    secrets: Secrets
    unknown: tuple[Element, ...]
    extra: tuple[tuple[str, str], ...]
    line: int


def _common(element: Element, children: set[str], attributes: set[str]) -> _Common:
    """Reads what all kinds have; `children` and `attributes` are what this kind knows besides."""
    casts = framed(element, "as")
    if len(casts) > 1:
        raise NotAReference(worded("There is more than one 'as'."), casts[1].line)
    known = children | {"as", "secrets"}
    return _Common(
        as_type=read_type(only_child(casts[0])) if casts else None,
        secrets=_secrets(element),
        unknown=tuple(
            c for c in element.elements if c.namespace != NAMESPACE or c.name not in known
        ),
        extra=tuple(item for item in element.attributes if item[0] not in attributes),
        line=element.line,
    )


def _primitive(element: Element) -> Reference:
    return Primitive(required(element, "id"), **_common(element, set(), {"id"}))


def _parameterized(element: Element) -> Reference:
    arguments: dict[str, Argument] = {}
    for child in framed(element, "parameter", "name"):
        name = required(child, "name")
        if name in arguments:
            raise NotAReference(
                worded("The parameter '{name}' is given twice.", name=name), child.line
            )
        arguments[name] = _argument(only_child(child))
    return Parameterized(
        reference_of(only_child(_one(element, "template"))),
        arguments,
        **_common(element, {"template", "parameter"}, set()),
    )


def _external(element: Element) -> Reference:
    return External(
        required(element, "name"),
        reference_of(only_child(_one(element, "from"))),
        **_common(element, {"from"}, {"name"}),
    )


def _composite(element: Element) -> Reference:
    components: dict[str, Reference] = {}
    for child in framed(element, "component", "name"):
        name = required(child, "name")
        if name in components:
            raise NotAReference(
                worded("The component '{name}' is there twice.", name=name), child.line
            )
        components[name] = reference_of(only_child(child))
    connections = tuple(_connection(child) for child in framed(element, "connection"))
    exports = tuple(
        Export(required(child, "name"), _port(only_child(child)), child.line)
        for child in framed(element, "export", "name")
    )
    names = [export.name for export in exports]
    for export in exports:
        if names.count(export.name) > 1:
            raise NotAReference(
                worded("'{name}' is exported twice.", name=export.name), export.line
            )
    known = {"component", "connection", "export"}
    return Composite(components, connections, exports, **_common(element, known, set()))


def _connection(element: Element) -> Connection:
    ends = [_port(child) for child in element.elements]
    if len(ends) != 2:
        raise NotAReference(
            worded("A connection has two ends, not {count}.", count=len(ends)), element.line
        )
    return Connection(ends[0], ends[1], element.line)


def _port(element: Element) -> Port:
    if element.name != "endpoint" or element.namespace != NAMESPACE:
        raise NotAReference(
            worded("'{name}' stands where 'endpoint' should.", name=element.name), element.line
        )
    _check_attributes(element, ("name", "of"))
    return Port(required(element, "of"), required(element, "name"))


def _argument(element: Element) -> Argument:
    if element.namespace == NAMESPACE:
        if element.name in _VALUES:
            return value_of(element)
        if element.name == "value-type":
            return ValueTypeArgument(read_value_type(element))
        if element.name == "type":
            return ObjectTypeArgument(read_type(element))
    return reference_of(element)


def value_of(element: Element) -> Value:
    read = _VALUES[element.name]
    if any(element.elements):
        raise NotAReference(worded("A '{name}' holds text only.", name=element.name), element.line)
    try:
        return Value(read(element.text))
    except ValueError:
        raise NotAReference(
            worded(
                "{text} is not a value of kind '{name}'.",
                text=f"{element.text[:40]!r}",
                name=element.name,
            ),
            element.line,
        ) from None


def _read_boolean(text: str) -> bool:
    values = {"true": True, "false": False}
    if text.strip() not in values:
        raise ValueError(text)
    return values[text.strip()]


def _read_integer(text: str) -> int:
    digits = text.strip().removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 40):
        raise ValueError(text)
    return int(text)


def _read_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_VALUES: dict[str, Callable[[str], ValueData]] = {
    "text": str,
    "integer": _read_integer,
    "number": _read_number,
    "boolean": _read_boolean,
    "bytes": bytes.fromhex,
}

_KINDS: dict[str, Callable[[Element], Reference]] = {
    "primitive": _primitive,
    "parameterized": _parameterized,
    "external": _external,
    "composite": _composite,
}


# Helpers that all kinds use


def required(element: Element, name: str) -> str:
    value = element.attribute(name)
    if value is None:
        raise NotAReference(
            worded(
                "The attribute '{name}' of '{name_2}' is missing.", name=name, name_2=element.name
            ),
            element.line,
        )
    return value


def ours(element: Element, name: str) -> list[Element]:
    return [e for e in element.elements if e.name == name and e.namespace == NAMESPACE]


def framed(element: Element, name: str, *attributes: str) -> list[Element]:
    """Children that only hold something: unlike references, they have no room for what is not
    known, and it is better to say so than to lose it."""
    found = ours(element, name)
    for child in found:
        _check_attributes(child, attributes)
    return found


def _check_attributes(element: Element, known: Sequence[str]) -> None:
    for name, _ in element.attributes:
        if name not in known:
            raise NotAReference(
                worded(
                    "The attribute '{name}' of '{name_2}' is not known here.",
                    name=f"{name:.60}",
                    name_2=element.name,
                ),
                element.line,
            )


def only_child(element: Element) -> Element:
    children = list(element.elements)
    if len(children) != 1:
        raise NotAReference(
            worded(
                "'{name}' must hold exactly one part; here are {count}.",
                name=element.name,
                count=len(children),
            ),
            element.line,
        )
    return children[0]


def _one(element: Element, name: str) -> Element:
    found = framed(element, name)
    if len(found) != 1:
        raise NotAReference(
            worded(
                "'{name}' must have one '{name_2}'; here are {count}.",
                name=element.name,
                name_2=name,
                count=len(found),
            ),
            element.line,
        )
    return found[0]


def _secrets(element: Element) -> Secrets:
    keys: dict[str, bytes] = {}
    for part in framed(element, "secrets"):
        strangers = [child for child in part.elements if child.name != "key"]
        if strangers:
            raise NotAReference(
                worded("'{name}' among the secrets is not known here.", name=strangers[0].name),
                strangers[0].line,
            )
        for key in framed(part, "key", "name"):
            name = required(key, "name")
            if name in keys:
                raise NotAReference(worded("The key '{name}' is given twice.", name=name), key.line)
            try:
                keys[name] = bytes.fromhex(key.text)
            except ValueError:
                raise NotAReference(
                    worded("The key '{name}' is not hexadecimal.", name=name), key.line
                ) from None
    return Secrets(keys)
