"""The checked binding to the simulator: a network, a clock and nodes, with faults made to order."""

from __future__ import annotations

from dataclasses import dataclass

from native import ffi, lib
from transport.binding import CData, Core, Observer, check, fill_core, forget, watch
from transport.config import EngineConfig


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a simulated network carried; a multicast counts once in `datagrams`."""

    datagrams: int
    bytes: int
    deliveries: int
    lost: int
    duplicated: int
    overflowed: int
    blocked: int


class Sim:
    """A `qsm_sim`: a network, a clock and nodes, owned until `close`."""

    def __init__(self, seed: int, observer: Observer) -> None:
        place = ffi.new("qsm_sim **")
        check(lib.qsm_sim_create(seed, place))
        self._pointer: CData = place[0]
        self._number = watch(observer)
        context = ffi.cast("void *", self._number)
        lib.qsm_sim_observe(self._pointer, lib.transport_observe, context)

    @property
    def now_ns(self) -> int:
        return int(lib.qsm_sim_now_ns(self._pointer))

    @property
    def trace_hash(self) -> int:
        return int(lib.qsm_sim_trace_hash(self._pointer))

    def add_node(self, config: EngineConfig) -> int:
        target = ffi.new("qsm_config *")
        lib.qsm_config_defaults(target)
        fill_core(target, config)
        return check(lib.qsm_sim_add_node(self._pointer, target))

    def core(self, node: int) -> Core | None:
        pointer = lib.qsm_sim_engine(self._pointer, node)
        return None if pointer == ffi.NULL else Core(pointer)

    def set_link(self, link: dict[str, int], between: tuple[int, int] | None = None) -> None:
        target = ffi.new("qsm_sim_link *", link)
        if between is None:
            lib.qsm_sim_set_link(self._pointer, target)
        else:
            check(lib.qsm_sim_set_link_between(self._pointer, *between, target))

    def unset_link(self, between: tuple[int, int]) -> None:
        check(lib.qsm_sim_set_link_between(self._pointer, *between, ffi.NULL))

    def set_side(self, node: int, side: int) -> None:
        check(lib.qsm_sim_set_side(self._pointer, node, side))

    def block(self, sender: int, receiver: int, *, blocked: bool) -> None:
        check(lib.qsm_sim_block(self._pointer, sender, receiver, blocked))

    def block_regions(self, node: int) -> None:
        """The multicast addresses that the node's regions have now do not reach it."""
        infos = ffi.new("qsm_region_info[]", 64)
        engine = lib.qsm_sim_engine(self._pointer, node)
        for index in range(check(lib.qsm_engine_regions(engine, infos, 64))):
            place = ffi.addressof(infos[index], "address")
            check(lib.qsm_sim_block_address(self._pointer, node, place, True))

    def block_multicast(self, sender: int, receiver: int, *, blocked: bool) -> None:
        check(lib.qsm_sim_block_multicast(self._pointer, sender, receiver, blocked))

    def freeze(self, node: int, duration_ns: int) -> None:
        check(lib.qsm_sim_freeze(self._pointer, node, duration_ns))

    def crash(self, node: int) -> None:
        check(lib.qsm_sim_crash(self._pointer, node))

    def restart(self, node: int) -> None:
        check(lib.qsm_sim_restart(self._pointer, node))

    def set_cost(self, node: int, cost_ns: int) -> None:
        check(lib.qsm_sim_set_cost(self._pointer, node, cost_ns))

    def set_deaf(self, node: int, *, deaf: bool) -> None:
        check(lib.qsm_sim_set_deaf(self._pointer, node, deaf))

    def set_clock(self, node: int, drift_ppm: int, jump_ns: int) -> None:
        check(lib.qsm_sim_set_clock(self._pointer, node, drift_ppm, jump_ns))

    def run_until(self, until_ns: int) -> int:
        return int(lib.qsm_sim_run_until(self._pointer, until_ns))

    def stop(self) -> None:
        lib.qsm_sim_stop(self._pointer)

    def traffic(self) -> Traffic:
        traffic = ffi.new("qsm_sim_traffic *")
        lib.qsm_sim_get_traffic(self._pointer, traffic)
        return Traffic(
            **{name: int(getattr(traffic, name)) for name in Traffic.__dataclass_fields__}
        )

    def close(self) -> None:
        forget(self._number)
        pointer, self._pointer = self._pointer, None
        lib.qsm_sim_destroy(pointer)
