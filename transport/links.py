"""Owns what is known of this computer's network interfaces: which are wired, wireless, virtual.

Read from Linux's /sys, which the caller may replace; on a system without it there is nothing to
tell, and the engine's own choice stands. It opens no connection.
"""

from __future__ import annotations

import socket
import struct
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

SYSTEM_LINKS = Path("/sys/class/net")

_UP, _LOOPBACK, _POINT_TO_POINT, _MULTICAST = 0x1, 0x8, 0x10, 0x1000
_TYPE_NONE = 65534  # tunnels without a link layer: WireGuard, tun
_ADDRESS_OF_INTERFACE = 0x8915  # SIOCGIFADDR


class Kind(IntEnum):
    """What an interface is; lower ones suit an office network better."""

    WIRED = 0
    WIRELESS = 1
    VPN = 2
    VIRTUAL = 3
    LOOPBACK = 4


@dataclass(frozen=True, slots=True)
class Link:
    """One interface. `running` means that it has a carrier; `address` is its IPv4 one, or empty."""

    name: str
    kind: Kind
    up: bool
    running: bool
    multicast: bool
    address: str

    @property
    def usable(self) -> bool:
        return self.up and self.running and bool(self.address)


def list_links(
    folder: Path = SYSTEM_LINKS, address_of: Callable[[str], str] | None = None
) -> list[Link]:
    """The interfaces of this computer, by name."""
    if not folder.is_dir():
        return []
    address_of = address_of or ipv4_address
    return [_link(path, address_of(path.name)) for path in sorted(folder.iterdir())]


def best_link(links: Iterable[Link]) -> Link | None:
    """The one for an office network: wired before wireless before VPN; loopback when alone."""
    usable = [link for link in links if link.usable]
    return min(usable, key=lambda link: (link.kind, not link.multicast, link.name), default=None)


def _link(path: Path, address: str) -> Link:
    flags = int(_read(path / "flags") or "0", 16)
    state = _read(path / "operstate")
    return Link(
        name=path.name,
        kind=_kind(path, flags),
        up=bool(flags & _UP),
        # Interfaces without a carrier of their own (loopback, tunnels) call their state unknown.
        running=state in {"up", "unknown"},
        multicast=bool(flags & _MULTICAST),
        address=address,
    )


def _kind(path: Path, flags: int) -> Kind:
    if flags & _LOOPBACK:
        return Kind.LOOPBACK
    if (path / "wireless").exists() or (path / "phy80211").exists():
        return Kind.WIRELESS
    tunnel = flags & _POINT_TO_POINT or _read(path / "type") == str(_TYPE_NONE)
    if tunnel or (path / "tun_flags").exists():
        return Kind.VPN
    # What is plugged into another one (a VLAN, a container's cable) is as good as a cable; bridges
    # and the like have neither a device behind them nor that.
    plugged = _read(path / "iflink") != _read(path / "ifindex")
    return Kind.WIRED if plugged or (path / "device").exists() else Kind.VIRTUAL


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def ipv4_address(name: str) -> str:
    """The IPv4 address of an interface, or an empty text."""
    if sys.platform == "win32":
        return ""
    import fcntl  # noqa: PLC0415 - not on every system

    request = struct.pack("256s", name.encode()[:15])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        try:
            answer = fcntl.ioctl(asker.fileno(), _ADDRESS_OF_INTERFACE, request)
        except OSError:
            return ""
    return socket.inet_ntoa(answer[20:24])
