"""Templates of types: application, and arguments that do not fit."""

from __future__ import annotations

import pytest

from liveobj.types import (
    INTEGER,
    NUMBER,
    TEXT,
    EndpointType,
    ListType,
    Named,
    ObjectType,
    Parameter,
    ParameterKind,
    ReferenceType,
    TypeTemplate,
    is_object_subtype,
)
from liveobj.types.templates import BadArgument
from liveobj.types.values import TypeVariable, record

MESSAGE = TypeVariable("Message")
CHANNEL = TypeTemplate(
    Named({"Message": Parameter(ParameterKind.VALUE_TYPE, bound=NUMBER)}),
    ObjectType(
        Named(
            {
                "channel": EndpointType(
                    incoming=Named({"send": record(m=MESSAGE)}),
                    outgoing=Named({"receive": record(all=ListType(MESSAGE))}),
                )
            }
        ),
        name="channel",
    ),
)
FOLDER = TypeTemplate(
    Named(
        {
            "Item": Parameter(
                ParameterKind.OBJECT_TYPE, bound=ObjectType(Named({"ui": EndpointType()}))
            ),
            "title": Parameter(ParameterKind.VALUE, bound=TEXT, optional=True),
        }
    ),
    ObjectType(Named({"folder": EndpointType(outgoing=Named({"item": TypeVariable("Item")}))})),
)
WINDOW = ObjectType(Named({"ui": EndpointType(), "more": EndpointType()}))


def test_variables_are_replaced_everywhere() -> None:
    applied = CHANNEL.apply({"Message": INTEGER}).endpoints["channel"]
    assert applied.incoming["send"] == record(m=INTEGER)
    assert applied.outgoing["receive"] == record(all=ListType(INTEGER))


def test_an_object_type_becomes_a_reference() -> None:
    applied = FOLDER.apply({"Item": WINDOW, "title": TEXT})
    assert applied.endpoints["folder"].outgoing["item"] == ReferenceType(WINDOW)


def test_the_same_arguments_make_the_same_type() -> None:
    assert CHANNEL.apply({"Message": INTEGER}) == CHANNEL.apply({"Message": INTEGER})
    assert not is_object_subtype(
        CHANNEL.apply({"Message": INTEGER}), CHANNEL.apply({"Message": NUMBER})
    )


def test_every_wrong_argument_is_told() -> None:
    with pytest.raises(BadArgument) as caught:
        FOLDER.apply({"Item": ObjectType(), "title": INTEGER, "colour": TEXT})
    assert caught.value.sentences == [
        "There is no parameter 'colour'.",
        (
            "The argument of 'Item' does not fit: "
            "The argument has no endpoint 'ui', which the type wanted has."
        ),
        "The argument of 'title' does not fit: integer is not a text.",
    ]
    with pytest.raises(BadArgument, match="'Message' is not assigned"):
        CHANNEL.apply({})
    with pytest.raises(BadArgument, match="a type of values is wanted"):
        CHANNEL.apply({"Message": WINDOW})
    with pytest.raises(BadArgument, match="a type of objects is wanted"):
        FOLDER.apply({"Item": TEXT})
