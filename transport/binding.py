"""The checked binding to the engine's core: its groups, and what it is told.

With `binding_events`, and `binding_udp` and `binding_sim`, which hold the two drivers, it is all
that touches the engine's C interface. Configurations become C structures, negative results typed
errors, and what C writes plain Python values. None of the four knows what callbacks mean, event
loops, or who may call when: that is the business of `transport.node`, `transport.engine` and
`transport.simulation`.

Objects are named to C by numbers (never by pointers): a number that is no longer in the table means
nothing, where a stale pointer would be a crash.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from native import ffi, lib
from transport.config import EngineConfig, Peer, Tuning
from transport.errors import Detail, error_for

# A C value; cffi's own type says nothing more.
CData = Any

MESSAGE_BYTES_MAX: int = lib.QSM_MESSAGE_BYTES_MAX
SEND_QUEUE_MAX: int = lib.QSM_SEND_QUEUE_MAX
NEVER_NS = 2**64 - 1

_BYTES_ARRAY = ffi.typeof("uint8_t[]")
_SIZES_ARRAY = ffi.typeof("uint32_t[]")
_NUMBER = ffi.typeof("uintptr_t")
_buffer = ffi.buffer
_cast = ffi.cast
_from_buffer = ffi.from_buffer


def check(result: int, message: str | None = None, **details: Detail) -> int:
    """The result, or the error that it stands for."""
    if result < 0:
        raise error_for(result, message, engine=text_of(lib.qsm_error_text(result)), **details)
    return result


def text_of(pointer: CData) -> str:
    text: bytes = cast(bytes, ffi.string(pointer))
    return text.decode("utf-8", "replace")


def reason_text(reason: int) -> str:
    return text_of(lib.qsm_reason_text(reason))


def health_text(health: int) -> str:
    return text_of(lib.qsm_health_text(health))


# Calls from C


# Messages one after the other, and the length of each. Whoever made them keeps them alive until the
# engine's next turn.
Pulled = tuple[bytes, "array[int]"]


class Puller(Protocol):
    """What C asks for the next messages of a group; must not raise."""

    def pull_next(self, bytes_max: int, count_max: int) -> Pulled | None: ...


Observer = Callable[[int, CData, int], None]

_numbers = itertools.count(1)
_pullers: dict[int, Puller] = {}
_observers: dict[int, Observer] = {}


def new_number() -> int:
    """A number for an object that C is told of; never used twice."""
    return next(_numbers)


def watch(observer: Observer) -> int:
    """The number by which C tells an observer, until `forget`."""
    number = new_number()
    _observers[number] = observer
    return number


@ffi.def_extern()
def transport_pull(context: CData, bytes_max: int, count_max: int, pulled: CData) -> None:
    puller = _pullers.get(int(_cast(_NUMBER, context)))
    given = None if puller is None else puller.pull_next(bytes_max, count_max)
    if given is not None:
        pulled.data = _from_buffer(_BYTES_ARRAY, given[0])
        pulled.bytes = _from_buffer(_SIZES_ARRAY, given[1])
        pulled.count = len(given[1])


@ffi.def_extern()
def transport_observe(context: CData, node: int, events: CData, count: int) -> None:
    observer = _observers.get(int(_cast(_NUMBER, context)))
    if observer is not None:
        observer(node, events, count)


# The core and its groups


@dataclass(frozen=True, slots=True)
class Address:
    """An address as the engine writes it; `text` is for people."""

    text: str
    port: int
    multicast: bool


@dataclass(frozen=True, slots=True)
class Region:
    """What an engine knows of one region; times are seconds, 0 when unknown."""

    region: int
    members: int
    alive: int
    ring_levels: int
    senders: int
    closing: bool
    unicast: bool
    member: bool
    unacknowledged_packets: int
    rate_bytes_per_s: int
    acknowledgement_s: float
    token_round_s: float
    address: Address


@dataclass(frozen=True, slots=True)
class MissedAddress:
    """A region's multicast address that is not heard here; it is used again after `rests_s`."""

    address: Address
    rests_s: float


@dataclass(frozen=True, slots=True)
class ShortPath:
    """Where a node is that long datagrams do not reach, and how long they may be, without the
    headers of IP and UDP."""

    address: Address
    bytes: int


class Core:
    """A `qsm_engine` that somebody else owns."""

    __slots__ = ("pointer",)

    def __init__(self, pointer: CData) -> None:
        self.pointer = pointer

    @property
    def node(self) -> int:
        return int(lib.qsm_engine_node(self.pointer))

    @property
    def health(self) -> int:
        return int(lib.qsm_engine_health(self.pointer))

    def join(self, group_id: bytes, key: bytes, number: int) -> CData:
        place = ffi.new("qsm_group **")
        result = lib.qsm_group_join(self.pointer, group_id, key, _cast("void *", number), place)
        check(result, group=group_id)
        return place[0]

    def release(self) -> None:
        lib.qsm_engine_release(self.pointer)

    def counters(self) -> dict[str, int]:
        names = counter_names()
        values = ffi.new("uint64_t[]", len(names))
        lib.qsm_engine_counters(self.pointer, values, len(names))
        return dict(zip(names, ffi.unpack(values, len(names)), strict=True))

    def regions(self, count_max: int = 4096) -> list[Region]:
        infos = ffi.new("qsm_region_info[]", count_max)
        count = check(lib.qsm_engine_regions(self.pointer, infos, count_max))
        return [_region(infos[index]) for index in range(min(count, count_max))]

    def prefer_unicast(self, prefers: bool) -> None:
        lib.qsm_engine_prefer_unicast(self.pointer, prefers)

    def unheard(self, count_max: int = 256) -> list[Address]:
        addresses = ffi.new("qsm_address[]", count_max)
        count = check(lib.qsm_engine_unheard(self.pointer, addresses, count_max))
        return [read_address(addresses[index]) for index in range(count)]

    def missed_address(self) -> MissedAddress | None:
        address, rests_ns = ffi.new("qsm_address *"), ffi.new("uint64_t *")
        if not lib.qsm_engine_missed_address(self.pointer, address, rests_ns):
            return None
        return MissedAddress(read_address(address), rests_ns[0] / 1e9)

    def short_paths(self, count_max: int = 256) -> list[ShortPath]:
        paths = ffi.new("qsm_short_path[]", count_max)
        count = check(lib.qsm_engine_short_paths(self.pointer, paths, count_max))
        return [
            ShortPath(read_address(paths[index].address), paths[index].bytes)
            for index in range(count)
        ]

    def probe_paths(self) -> None:
        lib.qsm_engine_probe_paths(self.pointer)

    def trace_text(self, bytes_max: int = 1 << 16) -> str:
        text = ffi.new("char[]", bytes_max)
        length = lib.qsm_engine_trace_text(self.pointer, text, bytes_max)
        return bytes(_buffer(text, min(length, bytes_max))).decode("utf-8", "replace").rstrip("\0")

    @property
    def trace_hash(self) -> int:
        return int(lib.qsm_engine_trace_hash(self.pointer))

    def add_peer(self, peer: Peer) -> None:
        address = ffi.new("qsm_address *")
        _fill_address(address[0], peer)
        check(lib.qsm_engine_add_peer(self.pointer, address), peer=f"{peer.address}:{peer.port}")

    def set_plan(self, text: str) -> None:
        data = text.encode()
        check(lib.qsm_engine_set_plan(self.pointer, data, len(data)))

    def add_scope_key(self, key: bytes) -> None:
        check(lib.qsm_engine_add_scope_key(self.pointer, key))

    def use_scope_key(self, key: bytes) -> None:
        check(lib.qsm_engine_use_scope_key(self.pointer, key))

    def drop_scope_key(self, key: bytes) -> None:
        check(lib.qsm_engine_drop_scope_key(self.pointer, key))

    def renew(self, seed: bytes) -> None:
        check(lib.qsm_engine_renew(self.pointer, seed))

    def close(self, now_ns: int) -> None:
        lib.qsm_engine_close(self.pointer, now_ns)


_counter_names: tuple[str, ...] = ()


def counter_names() -> tuple[str, ...]:
    """The names of the counters; the order never changes within a version."""
    global _counter_names  # noqa: PLW0603 - read once, as it cannot change
    if not _counter_names:
        count = lib.qsm_counter_count()
        _counter_names = tuple(text_of(lib.qsm_counter_name(index)) for index in range(count))
    return _counter_names


def _region(info: CData) -> Region:
    return Region(
        region=info.region,
        members=info.member_count,
        alive=info.alive_count,
        ring_levels=info.ring_levels,
        senders=info.sender_count,
        closing=bool(info.closing),
        unicast=bool(info.unicast),
        member=bool(info.member),
        unacknowledged_packets=info.unacknowledged_packets,
        rate_bytes_per_s=info.rate_bytes_per_s,
        acknowledgement_s=info.ack_ns / 1e9,
        token_round_s=info.token_round_ns / 1e9,
        address=read_address(info.address),
    )


def read_address(address: CData) -> Address:
    raw = bytes(_buffer(address.bytes))
    if address.family == lib.QSM_FAMILY_IPV4:
        text = ".".join(str(byte) for byte in raw[:4])
    elif address.family == lib.QSM_FAMILY_IPV6:
        text = ":".join(f"{raw[at] << 8 | raw[at + 1]:x}" for at in range(0, 16, 2))
    elif address.family == lib.QSM_FAMILY_SIM:
        text = f"simulated {raw.hex().lstrip('0') or '0'}"
    else:
        text = ""
    return Address(text, address.port, bool(address.multicast))


def leave(group: CData) -> None:
    lib.qsm_group_leave(group)


def add_key(group: CData, epoch: int, key: bytes) -> None:
    check(lib.qsm_group_add_key(group, epoch, key))


def use_key(group: CData, epoch: int) -> None:
    check(lib.qsm_group_use_key(group, epoch))


def drop_key(group: CData, epoch: int) -> None:
    check(lib.qsm_group_drop_key(group, epoch))


def send(group: CData, data: bytes | bytearray | memoryview) -> int:
    """Queues a copy; the plain result, since a full queue is an everyday answer on a hot path."""
    if type(data) is not bytes:
        data = bytes(data)
    return int(lib.qsm_group_send(group, data, len(data)))


def watch_group(group: CData) -> None:
    """Asks for one event, when all others have received what was sent or pulled so far."""
    check(lib.qsm_group_watch(group))


def unacknowledged(group: CData) -> int:
    return int(lib.qsm_group_unacknowledged(group))


def offer(group: CData, number: int, puller: Puller, priority: int) -> None:
    """Registers the intent to send: `puller` will be asked under this number."""
    _pullers[number] = puller
    check(lib.qsm_group_offer_many(group, lib.transport_pull, _cast("void *", number), priority))


def forget(number: int) -> None:
    """C will not ask under this number any more, or will be told that there is nothing."""
    _pullers.pop(number, None)
    _observers.pop(number, None)


# Configuration


def fill_core(target: CData, config: EngineConfig) -> None:
    """Writes what the core is told into a qsm_config that holds the defaults."""
    ffi.memmove(target.scope_id, config.scope.scope_id, len(config.scope.scope_id))
    ffi.memmove(target.scope_key, config.scope.key, len(config.scope.key))
    target.may_host = lib.QSM_HOST_INSISTS if config.insists_to_host else config.may_host
    target.known_peer_count = len(config.known_peers)
    for index, peer in enumerate(config.known_peers):
        _fill_address(target.known_peers[index], peer)
    _fill_tuning(target, config.tuning)


def _fill_tuning(target: CData, tuning: Tuning) -> None:
    for name in Tuning.__dataclass_fields__:
        value = getattr(tuning, name)
        if value is None:
            continue
        # Python's seconds are the engine's nanoseconds.
        field = name.replace("_s_max", "_ns_max") if name == "lag_s_max" else name
        if name.endswith("_s") and not name.endswith("per_s"):
            field = name[:-2] + "_ns"
        scaled = round(value * 1e9) if field != name else int(value)
        try:
            setattr(target, field, scaled)
        except OverflowError:
            raise error_for(-1, f"The {name} is {value}: that is out of its bounds.") from None


def _fill_address(target: CData, peer: Peer) -> None:
    packed = peer.packed
    target.family = lib.QSM_FAMILY_IPV4 if len(packed) == 4 else lib.QSM_FAMILY_IPV6
    target.port = peer.port
    ffi.memmove(target.bytes, packed, len(packed))


def enumeration(name: str) -> dict[str, int]:
    """The members of a C enumeration by name, in the order of their numbers."""
    elements: dict[int, str] = ffi.typeof(f"enum {name}").elements
    return {elements[value]: value for value in sorted(elements)}
