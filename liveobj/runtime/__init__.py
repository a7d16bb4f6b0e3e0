"""The run time of live objects: proxies, endpoints, connections, and the making of all that from
references."""

from liveobj.runtime.connections import Connection
from liveobj.runtime.context import Context
from liveobj.runtime.endpoints import ExternalEndpoint, InternalEndpoint
from liveobj.runtime.errors import (
    CannotConnect,
    CannotDereference,
    Notice,
    RuntimeProblem,
    WrongMoment,
)
from liveobj.runtime.life_cycle import ProxyState
from liveobj.runtime.proxy import Proxy, ProxyReference
from liveobj.runtime.runtime import Runtime

__all__ = [
    "CannotConnect",
    "CannotDereference",
    "Connection",
    "Context",
    "ExternalEndpoint",
    "InternalEndpoint",
    "Notice",
    "Proxy",
    "ProxyReference",
    "ProxyState",
    "Runtime",
    "RuntimeProblem",
    "WrongMoment",
]
