"""References of every kind, for tests."""

from __future__ import annotations

import random

from liveobj.formalisms import parse_constraints
from liveobj.objects.text_note import new_note
from liveobj.references import (
    Composite,
    Connection,
    Export,
    External,
    NamedType,
    ObjectTypeArgument,
    Parameterized,
    Port,
    Primitive,
    Reference,
    Secrets,
    SpelledType,
    Value,
    ValueTypeArgument,
)
from liveobj.references.xml_tree import Element
from liveobj.types import (
    ANY,
    BYTES,
    INTEGER,
    TEXT,
    EndpointType,
    Field,
    ListType,
    MapType,
    Named,
    ObjectType,
    OptionalType,
    RecordType,
    ReferenceType,
)
from liveobj.types.values import TypeVariable, record

NOTE = new_note("Plan", random.Random(1).randbytes)
REGISTRY = Primitive("live-objects:registry")
SPELLED = ObjectType(
    Named(
        {
            "channel": EndpointType(
                incoming=Named({"send": record(m=BYTES, list=ListType(INTEGER))}),
                outgoing=Named(
                    {
                        "receive": RecordType(
                            Named(
                                {
                                    "any": Field(ANY, required=False),
                                    "map": Field(MapType(OptionalType(TEXT))),
                                    "object": Field(ReferenceType()),
                                    "typed": Field(ReferenceType(ObjectType())),
                                    "of": Field(TypeVariable("Message")),
                                }
                            )
                        )
                    }
                ),
                provided=parse_constraints("delivery: reliable, fifo"),
                required=parse_constraints("cardinality: at most 1 writer"),
            )
        }
    ),
    provided=parse_constraints("security: confidential"),
)
PLATFORM = External(
    "QuickSilver",
    REGISTRY,
    as_type=NamedType("live-objects:folder"),
)
CHANNEL = External(
    "MyChannel",
    PLATFORM,
    as_type=NamedType("live-objects:channel", {"Message": BYTES}),
)
COMPOSITE = Composite(
    {"dissemination": CHANNEL, "note": NOTE},
    (Connection(Port("note", "text"), Port("dissemination", "channel")),),
    (Export("channel", Port("dissemination", "reliable")),),
    as_type=SpelledType(SPELLED),
)
TEMPLATED = Parameterized(
    Primitive("live-objects:shared-document"),
    {
        "Channel": COMPOSITE,
        "Message": ValueTypeArgument(ListType(TEXT)),
        "Kind": ObjectTypeArgument(NamedType("live-objects:channel", {"Message": TEXT})),
        "title": Value("A & B"),
    },
    secrets=Secrets({"group": b"k" * 32}),
    unknown=(Element("note", "urn:example:other", (("a", "1"),), ("kept",)),),
    extra=(("{urn:example:other}colour", "red"),),
    beside=(Element("about", "urn:example:other", (), ("beside",)),),
    beside_attributes=(("{urn:example:other}seen", "beside"),),
)

ALL: dict[str, Reference] = {
    "primitive": REGISTRY,
    "note": NOTE,
    "external": CHANNEL,
    "composite": COMPOSITE,
    "templated": TEMPLATED,
}
