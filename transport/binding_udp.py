"""The checked binding to the UDP driver: sockets and a core, opened, stepped and asked."""

from __future__ import annotations

from dataclasses import dataclass

from native import ffi, lib
from transport.binding import Address, CData, Core, check, fill_core, read_address, text_of
from transport.config import EngineConfig
from transport.errors import TransportError, error_for


@dataclass(frozen=True, slots=True)
class UdpInfo:
    """What the system gave."""

    interface: str
    address: Address
    rendezvous: Address
    multicast: bool
    loopback: bool
    mtu_bytes: int
    send_buffer_bytes: int
    receive_buffer_bytes: int
    segmentation_offload: bool
    receive_offload: bool
    datagrams_in: int
    datagrams_out: int
    calls_in: int
    calls_out: int
    kernel_drops: int
    send_errors: int


_DESCRIPTORS_MAX = 64


class Udp:
    """A `qsm_udp`: sockets and a core, owned until `close`."""

    def __init__(self, config: EngineConfig) -> None:
        error = ffi.new("char[]", 256)
        place = ffi.new("qsm_udp **")
        result = lib.qsm_udp_open(_udp_config(config), place, error, 256)
        if result < 0:
            raise _open_error(result, config, text_of(error))
        self._pointer: CData = place[0]
        self._descriptors = ffi.new("int64_t[]", _DESCRIPTORS_MAX)
        self._generation = ffi.new("uint64_t *")
        self.core = Core(lib.qsm_udp_engine(self._pointer))

    def step(self, budget_ns: int) -> bool:
        """Reads, works and sends; whether there is more to do at once."""
        return bool(check(lib.qsm_udp_step(self._pointer, budget_ns)))

    @property
    def wait_ns(self) -> int:
        return int(lib.qsm_udp_wait_ns(self._pointer))

    @property
    def now_ns(self) -> int:
        return int(lib.qsm_udp_now_ns(self._pointer))

    @property
    def wants_write(self) -> bool:
        return bool(lib.qsm_udp_wants_write(self._pointer))

    def descriptors(self) -> tuple[int, tuple[int, ...]]:
        """A number that grows with each change, and what to watch for reading."""
        count = check(
            lib.qsm_udp_descriptors(
                self._pointer, self._descriptors, _DESCRIPTORS_MAX, self._generation
            )
        )
        listed = tuple(ffi.unpack(self._descriptors, min(count, _DESCRIPTORS_MAX)))
        return int(self._generation[0]), listed

    def info(self) -> UdpInfo:
        info: CData = ffi.new("qsm_udp_info *")
        lib.qsm_udp_get_info(self._pointer, info)
        return UdpInfo(
            interface=text_of(info.interface),
            address=read_address(info.self),
            rendezvous=read_address(info.rendezvous),
            multicast=bool(info.multicast),
            loopback=bool(info.loopback),
            mtu_bytes=info.mtu_bytes,
            send_buffer_bytes=info.send_buffer_bytes,
            receive_buffer_bytes=info.receive_buffer_bytes,
            segmentation_offload=bool(info.segmentation_offload),
            receive_offload=bool(info.receive_offload),
            datagrams_in=info.datagrams_in,
            datagrams_out=info.datagrams_out,
            calls_in=info.calls_in,
            calls_out=info.calls_out,
            kernel_drops=info.kernel_drops,
            send_errors=info.send_errors,
        )

    def close(self) -> None:
        pointer, self._pointer = self._pointer, None  # cffi refuses None where C would crash
        lib.qsm_udp_close(pointer)


def _udp_config(config: EngineConfig) -> CData:
    target: CData = ffi.new("qsm_udp_config *")
    lib.qsm_udp_config_defaults(target)
    fill_core(target.core, config)
    target.interface = config.interface.encode()
    target.multicast_group = config.multicast_group.encode()
    target.multicast_port = config.multicast_port
    target.unicast_port = config.port
    target.ipv6 = config.ipv6
    target.no_multicast = not config.multicast
    target.no_offload = not config.offload
    target.drop_in_per_mille = config.faults.drop_in_per_mille
    target.drop_out_per_mille = config.faults.drop_out_per_mille
    target.drop_above_bytes = config.faults.drop_above_bytes
    if config.socket_buffer_bytes is not None:
        target.socket_buffer_bytes = config.socket_buffer_bytes
    return target


def _open_error(result: int, config: EngineConfig, reason: str) -> TransportError:
    port = config.port or config.multicast_port or None
    interface = config.interface or None
    messages = {
        lib.QSM_ERR_PORT_IN_USE: f"Port {port} is in use by another program: close that program, "
        "or choose another port.",
        lib.QSM_ERR_NO_INTERFACE: f"There is no network interface {config.interface!r} that is up: "
        "choose another one.",
        lib.QSM_ERR_NO_MULTICAST: f"The network interface {config.interface or 'of this computer'} "
        "cannot multicast: choose another one, or switch multicast off.",
    }
    known = (port or result != lib.QSM_ERR_PORT_IN_USE) and (
        interface or result != lib.QSM_ERR_NO_INTERFACE
    )
    message = messages.get(result) if known else None
    return error_for(
        result,
        message,
        port=port,
        interface=interface,
        multicast_group=config.multicast_group or None,
        engine=reason or text_of(lib.qsm_error_text(result)),
    )
