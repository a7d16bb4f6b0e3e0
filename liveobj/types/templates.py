"""Owns templates of object types: parameters by type and by value, and their application.

Template types have no subtypes (thesis 2.1.4 E): the one thing to do with a template is to assign
its parameters, after which an ordinary object type is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from liveobj.types.named import Named
from liveobj.types.objects import ObjectType, map_values
from liveobj.types.relations import is_object_subtype
from liveobj.types.values import (
    Field,
    ListType,
    MapType,
    OptionalType,
    RecordType,
    ReferenceType,
    TypeVariable,
    ValueType,
    why_not_value_subtype,
)


class BadArgument(Exception):
    """Parameters of a template were assigned wrongly; `sentences` has all the ways."""

    def __init__(self, sentences: list[str]) -> None:
        super().__init__(" ".join(sentences))
        self.sentences = sentences


class ParameterKind(Enum):
    """What a parameter stands for: a value, or the type of values (events) or of objects."""

    VALUE = "value"
    VALUE_TYPE = "value type"
    OBJECT_TYPE = "object type"


@dataclass(frozen=True, slots=True)
class Parameter:
    """`bound` is the type that a value argument must have, or that a type argument must be a
    subtype of; one that is `optional` may be left out."""

    kind: ParameterKind
    bound: ValueType | ObjectType | None = None
    optional: bool = False


TypeArgument = ValueType | ObjectType


@dataclass(frozen=True, slots=True)
class TypeTemplate:
    """An object type with parameters; `body` uses them as type variables."""

    parameters: Named[Parameter]
    body: ObjectType

    @property
    def name(self) -> str:
        return self.body.name

    def apply(self, arguments: Mapping[str, TypeArgument]) -> ObjectType:
        """The object type with every parameter assigned. For a value parameter the argument is the
        type of the value: values do not change an object's type. Raises BadArgument."""
        problems = list(self.problems(arguments))
        if problems:
            raise BadArgument(problems)
        assigned = {
            name: argument
            for name, argument in arguments.items()
            if self.parameters[name].kind is not ParameterKind.VALUE
        }
        return substitute(self.body, assigned)

    def problems(self, arguments: Mapping[str, TypeArgument]) -> list[str]:
        """Every way in which these arguments do not fit the parameters, in sentences."""
        found = [
            f"There is no parameter '{name}'." for name in arguments if name not in self.parameters
        ]
        for name, parameter in self.parameters.items():
            argument = arguments.get(name)
            if argument is None:
                if not parameter.optional:
                    found.append(f"The parameter '{name}' is not assigned.")
                continue
            problem = _problem(parameter, argument)
            if problem is not None:
                found.append(f"The argument of '{name}' does not fit: {problem}.")
        return found


def _problem(parameter: Parameter, argument: TypeArgument) -> str | None:
    if parameter.kind is ParameterKind.OBJECT_TYPE:
        if not isinstance(argument, ObjectType):
            return "a type of objects is wanted"
        if not isinstance(parameter.bound, ObjectType):
            return None
        verdict = is_object_subtype(argument, parameter.bound)
        sentences = verdict.sentences("the argument", "the type wanted")
        return None if verdict else " ".join(sentences).rstrip(".")
    if not isinstance(argument, ValueType):
        return "a type of values is wanted"
    if not isinstance(parameter.bound, ValueType):
        return None
    return why_not_value_subtype(argument, parameter.bound)


def substitute(type_: ObjectType, arguments: Mapping[str, TypeArgument]) -> ObjectType:
    """`type_` with type variables replaced. A variable that stands for an object type appears as a
    reference to it."""

    def change(value: ValueType) -> ValueType:
        match value:
            case TypeVariable(name) if name in arguments:
                argument = arguments[name]
                return ReferenceType(argument) if isinstance(argument, ObjectType) else argument
            case ListType(item):
                return ListType(change(item))
            case MapType(item):
                return MapType(change(item))
            case OptionalType(item):
                return OptionalType(change(item))
            case RecordType(fields):
                changed = {n: Field(change(f.type), f.required) for n, f in fields.items()}
                return RecordType(Named(changed))
            case ReferenceType(ObjectType() as inner):
                return ReferenceType(map_values(inner, change))
        return value

    return map_values(type_, change)
