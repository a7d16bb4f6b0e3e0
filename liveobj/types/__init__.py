"""Types of live objects, and the relations between them (thesis 2.1.2)."""

from liveobj.types.constraints import Constraint, Formalism, NotAConstraint, Structure, constraints
from liveobj.types.named import Named
from liveobj.types.objects import EndpointType, ObjectType, dual
from liveobj.types.relations import is_object_subtype, is_subtype, matches
from liveobj.types.templates import Parameter, ParameterKind, TypeTemplate
from liveobj.types.values import (
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
    OptionalType,
    RecordType,
    ReferenceType,
    Scalar,
    ValueType,
)
from liveobj.types.verdicts import Reason, Verdict

__all__ = [
    "ANY",
    "BOOLEAN",
    "BYTES",
    "INTEGER",
    "NOTHING",
    "NUMBER",
    "TEXT",
    "Constraint",
    "EndpointType",
    "Field",
    "Formalism",
    "ListType",
    "MapType",
    "Named",
    "NotAConstraint",
    "ObjectType",
    "OptionalType",
    "Parameter",
    "ParameterKind",
    "Reason",
    "RecordType",
    "ReferenceType",
    "Scalar",
    "Structure",
    "TypeTemplate",
    "ValueType",
    "Verdict",
    "constraints",
    "dual",
    "is_object_subtype",
    "is_subtype",
    "matches",
]
