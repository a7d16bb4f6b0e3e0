"""Owns how a confined process describes its objects to its keeper: types as XML, as in references.

The keeper must know the types to check compositions, without importing the code that declares them.
"""

from __future__ import annotations

from typing import Any

from liveobj.declare import ObjectDeclaration
from liveobj.declare.hints import Conversion
from liveobj.declare.objects import ValueParameter
from liveobj.errors import Problem
from liveobj.references.type_expressions import (
    SpelledType,
    read_type,
    read_value_type,
    type_element,
    value_type_element,
)
from liveobj.references.xml_tree import parse, write
from liveobj.types import Named, ObjectType

TITLE_CHARACTERS_MAX = 100
PARAMETERS_MAX = 64


class BadDescription(Problem):
    """A description that makes no sense, or an object that cannot be confined."""


def describe(declaration: ObjectDeclaration) -> dict[str, Any]:
    """What the keeper is told of an object."""
    if declaration.type_parameters:
        raise BadDescription(f"{declaration.title} takes types as parameters.")
    return {
        "title": declaration.title,
        "description": declaration.description,
        "type": write(type_element(SpelledType(declaration.type))),
        "parameters": {
            name: [write(value_type_element(p.conversion.type)), p.optional]
            for name, p in declaration.parameters.items()
        },
    }


def read_description(id_: str, module: str, described: object) -> ObjectDeclaration:
    """The declaration that stands for a confined object; raises BadDescription."""
    match described:
        case {
            "title": str(title),
            "description": str(description),
            "type": bytes(type_xml),
            "parameters": dict(parameters),
        } if len(parameters) <= PARAMETERS_MAX:
            pass
        case _:
            raise BadDescription(f"The package does not say what '{id_}' is.")
    try:
        expression = read_type(parse(type_xml))
        found = {str(name): _parameter(item) for name, item in parameters.items()}
    except (Problem, ValueError) as problem:
        raise BadDescription(f"The package says wrongly what '{id_}' is: {problem}") from None
    if not isinstance(expression, SpelledType):
        raise BadDescription(f"The package does not say what '{id_}' is.")
    spelled = expression.type
    named = ObjectType(spelled.endpoints, spelled.provided, spelled.required, name=title)
    return ObjectDeclaration(
        id=id_,
        # Nothing is ever made of it: it tells one package's object from another's.
        cls=type("Confined", (), {"__module__": module, "__qualname__": id_}),
        title=title[:TITLE_CHARACTERS_MAX],
        description=description[: 4 * TITLE_CHARACTERS_MAX],
        type=named,
        endpoints=Named(),
        parameters=Named(found),
        type_parameters=(),
        handlers=Named(),
        runnable=True,
    )


def _parameter(item: object) -> ValueParameter:
    match item:
        case [bytes(xml), bool(optional)]:
            return ValueParameter(Conversion(read_value_type(parse(xml))), optional)
    raise ValueError("a parameter without a type")
