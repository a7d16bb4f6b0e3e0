"""Owns what can be set when an engine is opened; every field has a default that suits an office.

Plain data: nothing here touches the engine or the system. A field that is None keeps the engine's
own default, so that numbers are decided in one place.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transport.errors import BadArgument
from transport.scopes import NEARBY, Scope

if TYPE_CHECKING:
    from transport.policies import Policy

KNOWN_PEERS_MAX = 8


@dataclass(frozen=True, slots=True)
class Peer:
    """Where another engine can be asked for the scope."""

    address: str
    port: int

    def __post_init__(self) -> None:
        try:
            ipaddress.ip_address(self.address)
        except ValueError:
            raise BadArgument(
                f"{self.address!r} is not an IP address: write four numbers with dots, or IPv6."
            ) from None
        _within("port", self.port, 1, 65535)

    @classmethod
    def parse(cls, text: str) -> Peer:
        """From `192.168.1.5:47475` or `[fd00::5]:47475`."""
        address, colon, port = text.strip().rpartition(":")
        if not colon or not port.isascii() or not port.isdigit():
            raise BadArgument(f"{text!r} is not an address: write it like 192.168.1.5:47475.")
        return cls(address.removeprefix("[").removesuffix("]"), int(port))

    @property
    def packed(self) -> bytes:
        return ipaddress.ip_address(self.address).packed


@dataclass(frozen=True, slots=True)
class Tuning:
    """Numbers of the protocol; None keeps the engine's default. Bounds are the engine's to
    check."""

    datagram_bytes_max: int | None = None
    window_bytes_max: int | None = None
    receive_bytes_max: int | None = None
    rate_bytes_per_s_max: int | None = None
    ring_size_max: int | None = None
    policy: Policy | None = None
    similar_percent: int | None = None
    region_size_min: int | None = None
    hybrid_regions_min: int | None = None
    coupled_tokens: bool | None = None
    cache_everywhere: bool | None = None
    heartbeat_s: float | None = None
    failure_s: float | None = None
    batch_s: float | None = None
    token_s: float | None = None
    lag_s_max: float | None = None


@dataclass(frozen=True, slots=True)
class Faults:
    """Losses that the driver makes on purpose, for tests: per mille of datagrams; and all that it
    sends and are longer than `drop_above_bytes`, if that is not 0."""

    drop_in_per_mille: int = 0
    drop_out_per_mille: int = 0
    drop_above_bytes: int = 0

    def __post_init__(self) -> None:
        _within("drop_in_per_mille", self.drop_in_per_mille, 0, 1000)
        _within("drop_out_per_mille", self.drop_out_per_mille, 0, 1000)
        _within("drop_above_bytes", self.drop_above_bytes, 0, 65535)


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """How to open an engine.

    `interface` is a name or address, empty for the system's choice; `port` is the one for unicast,
    0 for any free one; `multicast_group` empty derives it from the scope; `multicast_port` 0 is
    the default. `may_host` allows this engine to host the membership service when nobody else
    does; one that `insists_to_host` takes it over, when it has started, from whoever hosts then,
    unless two others did so within the last minute.
    `prefers_unicast` None: on a wireless interface, where multicast goes at the lowest rate.
    """

    scope: Scope = NEARBY
    interface: str = ""
    port: int = 0
    multicast: bool = True
    prefers_unicast: bool | None = None
    multicast_group: str = ""
    multicast_port: int = 0
    ipv6: bool = False
    known_peers: tuple[Peer, ...] = ()
    may_host: bool = True
    insists_to_host: bool = False
    socket_buffer_bytes: int | None = None
    offload: bool = True
    tuning: Tuning = field(default_factory=Tuning)
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        _within("port", self.port, 0, 65535)
        _within("multicast_port", self.multicast_port, 0, 65535)
        if self.insists_to_host and not self.may_host:
            raise BadArgument("An engine that may not host cannot insist on it.")
        _within("number of known peers", len(self.known_peers), 0, KNOWN_PEERS_MAX)
        for name, text in (
            ("interface", self.interface),
            ("multicast group", self.multicast_group),
        ):
            if len(text.encode()) > 63 or "\0" in text:
                raise BadArgument(f"The {name} {text!r} is too long: give its name or address.")


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise BadArgument(f"The {name} is {value}: it must be from {least} to {most}.")
