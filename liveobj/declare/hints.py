"""Owns the translation of Python type hints into value types, and of values on their way through.

Between objects travel plain values: numbers, text, bytes, lists, and dictionaries for records. Each
class may have dataclasses of its own for the same records; `Conversion` turns them into plain
values and back, so two classes that were written apart understand each other.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

from liveobj.references import Reference
from liveobj.types import (
    ANY,
    BOOLEAN,
    BYTES,
    INTEGER,
    NOTHING,
    NUMBER,
    TEXT,
    Field,
    ListType,
    MapType,
    Named,
    ObjectType,
    OptionalType,
    RecordType,
    ReferenceType,
    ValueType,
)
from liveobj.types.values import TypeVariable

Target = TypeVar("Target")


class _ReferenceMark:
    """Tells that a reference is to an object of the annotated class."""


if TYPE_CHECKING:

    class ReferenceTo(Reference, Generic[Target]):
        """A parameter or argument that is a reference to an object of a declared type."""

else:

    class ReferenceTo:
        """The same at run time, where nothing but the hint is needed."""

        def __class_getitem__(cls, target: type) -> Any:
            return Annotated[Reference, _ReferenceMark, target]


class BadHint(Exception):
    """A hint that stands for nothing that can be sent; the message continues a sentence."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """A value type with the ways to and from the Python form; None where they are the same."""

    type: ValueType
    to_plain: Callable[[Any], Any] | None = None
    from_plain: Callable[[Any], Any] | None = None


_SCALARS: dict[Any, ValueType] = {
    str: TEXT,
    int: INTEGER,
    float: NUMBER,
    bool: BOOLEAN,
    bytes: BYTES,
    None: NOTHING,
    type(None): NOTHING,
    Any: ANY,
    object: ANY,
}
_LISTS = (list, Sequence)
_MAPS = (dict, Mapping)


def conversion(hint: Any) -> Conversion:
    """What a hint stands for; raises BadHint."""
    if isinstance(hint, TypeVar):
        return Conversion(TypeVariable(hint.__name__))
    simple = _SCALARS.get(hint) if _is_hashable(hint) else None
    if simple is not None:
        return Conversion(simple)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(arguments)
    if origin in (Union, types.UnionType):
        return _union(arguments)
    if origin in _LISTS or (origin is tuple and arguments[1:] == (...,)):
        return _list(conversion(arguments[0]), tuple if origin is tuple else list)
    if origin in _MAPS and arguments[0] is str:
        return _map(conversion(arguments[1]))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and not _is_reference(hint):
        return _record(hint)
    if _is_reference(hint):
        return Conversion(ReferenceType())
    raise BadHint(f"{_name(hint)} cannot be sent")


def _is_hashable(hint: Any) -> bool:
    try:
        hash(hint)
    except TypeError:
        return False
    return True


def _is_reference(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Reference)


def _name(hint: Any) -> str:
    return getattr(hint, "__name__", None) or str(hint)


def _annotated(arguments: tuple[Any, ...]) -> Conversion:
    if _ReferenceMark in arguments:
        target = arguments[-1]
        declared = getattr(target, "__live_object__", None)
        if isinstance(target, TypeVar):
            return Conversion(TypeVariable(target.__name__))
        if declared is None or not isinstance(declared.type, ObjectType):
            raise BadHint(f"{_name(target)} is not declared as a type of objects")
        return Conversion(ReferenceType(declared.type))
    return conversion(arguments[0])


def _union(arguments: tuple[Any, ...]) -> Conversion:
    rest = [argument for argument in arguments if argument is not type(None)]
    if len(rest) != 1 or len(rest) == len(arguments):
        raise BadHint("only 'X | None' is possible, not a choice of several types")
    inner = conversion(rest[0])

    def optional(change: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        if change is None:
            return None
        return lambda value: None if value is None else change(value)

    return Conversion(
        OptionalType(inner.type), optional(inner.to_plain), optional(inner.from_plain)
    )


def _list(inner: Conversion, kind: type) -> Conversion:
    item, item_back = inner.to_plain, inner.from_plain

    def to_plain(value: Any) -> Any:
        return list(value) if item is None else [item(part) for part in value]

    def from_plain(value: Any) -> Any:
        return kind(value) if item_back is None else kind(item_back(part) for part in value)

    return Conversion(ListType(inner.type), to_plain, from_plain)


def _map(inner: Conversion) -> Conversion:
    def over(change: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        if change is None:
            return None
        return lambda value: {key: change(part) for key, part in value.items()}

    return Conversion(MapType(inner.type), over(inner.to_plain), over(inner.from_plain))


def _record(hint: type) -> Conversion:
    hints = typing.get_type_hints(hint, include_extras=True)
    parts: dict[str, Conversion] = {}
    fields: dict[str, Field] = {}
    for field in dataclasses.fields(hint):
        try:
            parts[field.name] = conversion(hints[field.name])
        except BadHint as problem:
            raise BadHint(f"in '{field.name}' of {hint.__name__}, {problem}") from None
        required = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        fields[field.name] = Field(parts[field.name].type, required)

    def to_plain(value: Any) -> Any:
        if isinstance(value, dict):
            return value
        return {name: apply(c.to_plain, getattr(value, name)) for name, c in parts.items()}

    def from_plain(value: Any) -> Any:
        known = {n: apply(c.from_plain, value[n]) for n, c in parts.items() if n in value}
        return hint(**known)

    return Conversion(RecordType(Named(fields)), to_plain, from_plain)


def apply(change: Callable[[Any], Any] | None, value: Any) -> Any:
    return value if change is None else change(value)


def why_not_conforming(value: Any, type_: ValueType) -> str | None:  # noqa: PLR0912
    """None if a plain value is of the type, else why not; continues a sentence."""
    match type_:
        case _ if type_ == ANY or isinstance(type_, TypeVariable):
            return None
        case OptionalType(item):
            return None if value is None else why_not_conforming(value, item)
        case ListType(item):
            if not isinstance(value, list | tuple):
                return f"{value!r:.60} is not a list"
            return next(filter(None, (why_not_conforming(part, item) for part in value)), None)
        case MapType(item):
            if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
                return f"{value!r:.60} is not a map"
            parts = (why_not_conforming(part, item) for part in value.values())
            return next(filter(None, parts), None)
        case RecordType(fields):
            if not isinstance(value, Mapping):
                return f"{value!r:.60} is not a record"
            for name, field in fields.items():
                if name in value:
                    problem = why_not_conforming(value[name], field.type)
                    if problem is not None:
                        return f"in '{name}', {problem}"
                elif field.required:
                    return f"'{name}' is missing"
            return None
        case ReferenceType():
            return None if isinstance(value, Reference) else f"{value!r:.60} is not a reference"
    if isinstance(value, _PYTHON.get(type_, ())) and (type_ == BOOLEAN) == isinstance(value, bool):
        return None
    return f"{value!r:.60} is not {type_}"


_PYTHON: dict[ValueType, tuple[type, ...]] = {
    TEXT: (str,),
    INTEGER: (int,),
    NUMBER: (int, float),
    BOOLEAN: (bool,),
    BYTES: (bytes, bytearray, memoryview),
    NOTHING: (type(None),),
}
