"""References: the complete, portable recipes of live objects, and the files they are kept in."""

from liveobj.references.errors import ReferenceProblem
from liveobj.references.identity import Fingerprint, fingerprint, group_id_of
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
    ValueTypeArgument,
)
from liveobj.references.reading import read_reference, read_reference_file
from liveobj.references.type_expressions import NamedType, SpelledType, TypeExpression
from liveobj.references.writing import canonical_form, write_reference, write_reference_file

__all__ = [
    "Argument",
    "Composite",
    "Connection",
    "Export",
    "External",
    "Fingerprint",
    "NamedType",
    "ObjectTypeArgument",
    "Parameterized",
    "Port",
    "Primitive",
    "Reference",
    "ReferenceProblem",
    "Secrets",
    "SpelledType",
    "TypeExpression",
    "Value",
    "ValueTypeArgument",
    "canonical_form",
    "fingerprint",
    "group_id_of",
    "read_reference",
    "read_reference_file",
    "write_reference",
    "write_reference_file",
]
