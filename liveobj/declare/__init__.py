"""Declaring live objects and their types as ordinary Python classes with hints and one
decorator."""

from liveobj.declare.endpoints import (
    Dual,
    EndpointDeclaration,
    endpoint_type,
    incoming,
    outgoing,
    reflect_endpoint,
)
from liveobj.declare.errors import DeclarationError
from liveobj.declare.hints import ReferenceTo
from liveobj.declare.objects import (
    DECLARATIONS,
    Declarations,
    ObjectDeclaration,
    live_object,
    object_type,
    reflect_object,
)
from liveobj.declare.wrappers import cast_endpoint

__all__ = [
    "DECLARATIONS",
    "DeclarationError",
    "Declarations",
    "Dual",
    "EndpointDeclaration",
    "ObjectDeclaration",
    "ReferenceTo",
    "cast_endpoint",
    "endpoint_type",
    "incoming",
    "live_object",
    "object_type",
    "outgoing",
    "reflect_endpoint",
    "reflect_object",
]
