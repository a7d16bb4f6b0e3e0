"""Owns the types of what events carry: serialisable values, and the subtyping among them.

The thesis inherits these from the platform below (.NET); here they are few and structural, so that
a type can be written in a file and compared with one that somebody else has written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from liveobj.types.named import Named

if TYPE_CHECKING:
    from liveobj.types.objects import ObjectType


class ValueType:
    """The type of a value that can be sent."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Scalar(ValueType):
    """A type without parts."""

    name: str

    def __str__(self) -> str:
        return self.name


ANY = Scalar("any")
NOTHING = Scalar("nothing")
BOOLEAN = Scalar("boolean")
INTEGER = Scalar("integer")
NUMBER = Scalar("number")
TEXT = Scalar("text")
BYTES = Scalar("bytes")

SCALARS = {t.name: t for t in (ANY, NOTHING, BOOLEAN, INTEGER, NUMBER, TEXT, BYTES)}


@dataclass(frozen=True, slots=True)
class ListType(ValueType):
    item: ValueType

    def __str__(self) -> str:
        return f"list of {self.item}"


@dataclass(frozen=True, slots=True)
class MapType(ValueType):
    """From text to `item`."""

    item: ValueType

    def __str__(self) -> str:
        return f"map of {self.item}"


@dataclass(frozen=True, slots=True)
class OptionalType(ValueType):
    """A value or nothing."""

    item: ValueType

    def __str__(self) -> str:
        return f"optional {self.item}"


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a record; one that is not `required` may be left out."""

    type: ValueType
    required: bool = True


NO_FIELDS: Named[Field] = Named()


@dataclass(frozen=True, slots=True)
class RecordType(ValueType):
    """Named parts. What an event with several arguments carries is a record of them."""

    fields: Named[Field] = NO_FIELDS

    def __str__(self) -> str:
        parts = (f"{n}{'' if f.required else '?'}: {f.type}" for n, f in self.fields.items())
        return "(" + ", ".join(parts) + ")"


@dataclass(frozen=True, slots=True)
class ReferenceType(ValueType):
    """A reference to a live object; None means an object of any type."""

    object_type: ObjectType | None = None

    def __str__(self) -> str:
        return "reference" if self.object_type is None else f"reference to {self.object_type}"


@dataclass(frozen=True, slots=True)
class TypeVariable(ValueType):
    """A parameter of a template, to be replaced when the template is applied."""

    name: str

    def __str__(self) -> str:
        return f"<{self.name}>"


def record(**fields: ValueType) -> RecordType:
    """A record of required fields."""
    return RecordType(Named({name: Field(type_) for name, type_ in fields.items()}))


def why_not_value_subtype(left: ValueType, right: ValueType) -> str | None:
    """None if every `left` can be understood as a `right`, else why not."""
    return next(_problems(left, right), None)


def is_value_subtype(left: ValueType, right: ValueType) -> bool:
    return why_not_value_subtype(left, right) is None


def _problems(left: ValueType, right: ValueType) -> Iterator[str]:
    """The reasons why `left` is no subtype of `right`. Values never change, so lists, maps and
    records may vary with what they hold."""
    match left, right:
        case _ if right in (left, ANY):
            return
        case (Scalar("integer"), Scalar("number")):
            return
        case (Scalar("nothing"), OptionalType()):
            return
        case (OptionalType(inner), OptionalType(outer)):
            yield from _problems(inner, outer)
        case (_, OptionalType(outer)):
            yield from _problems(left, outer)
        case (ListType(inner), ListType(outer)) | (MapType(inner), MapType(outer)):
            yield from _problems(inner, outer)
        case (RecordType(given), RecordType(wanted)):
            yield from _record_problems(given, wanted)
        case (ReferenceType(given_type), ReferenceType(wanted_type)):
            yield from _reference_problems(given_type, wanted_type)
        case _:
            yield f"{left} is not {_article(right)}"


def _record_problems(given: Named[Field], wanted: Named[Field]) -> Iterator[str]:
    """More fields are welcome: who does not know them does not look at them. A field that may be
    left out must still fit where it is there, else a reader would trip over it."""
    for name, want in wanted.items():
        have = given.get(name)
        if have is None:
            # An unknown field of that name might be present, in a further subtype, with any type;
            # so leaving out even an optional field would not be transitive.
            yield f"'{name}' is missing"
        elif want.required and not have.required:
            yield f"'{name}' may be missing"
        else:
            for problem in _problems(have.type, want.type):
                yield f"in '{name}', {problem}"


def _reference_problems(given: ObjectType | None, wanted: ObjectType | None) -> Iterator[str]:
    if wanted is None:
        return
    if given is None:
        yield "a reference to any object is not one to an object of a known type"
        return
    # Object types are made of value types and these of object types: one of the two imports late.
    from liveobj.types.relations import is_object_subtype  # noqa: PLC0415

    verdict = is_object_subtype(given, wanted)
    if not verdict:
        words = verdict.sentences("the object given", "the object wanted")
        yield "the object referred to is of another type (" + " ".join(words) + ")"


def _article(type_: ValueType) -> str:
    name = str(type_)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
