"""Owns announcements by mDNS and the lookout for them; what is announced, others decide.

zeroconf runs in the event loop, without threads. It takes a tenth of a second to load, so whoever
wants a quick start imports this module late. What is announced is a stranger's word: a place and
some short texts, within bounds.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from zeroconf import (
    IPVersion,
    NotRunningException,
    ServiceInfo,
    ServiceStateChange,
    Zeroconf,
)
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from transport.config import Peer
from transport.errors import BadArgument, SystemRefused

log = logging.getLogger(__name__)

# It tells with a traceback that a network has gone, which the engine notices by itself.
logging.getLogger("zeroconf").setLevel(logging.ERROR)

# Announcements known at a time; more in one network are more than anybody needs.
ANSWERS_MAX = 64

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Announced:
    """What somebody announces: where, and what they say of it."""

    name: str
    peer: Peer
    texts: Mapping[str, str]


def _open(interface_address: str) -> AsyncZeroconf:
    version = ipaddress.ip_address(interface_address).version
    try:
        return AsyncZeroconf(
            interfaces=[interface_address],
            ip_version=IPVersion.V4Only if version == 4 else IPVersion.V6Only,
        )
    except OSError as problem:
        raise SystemRefused(
            "Other computers cannot be searched by mDNS here: type an address instead.",
            interface=interface_address,
            system=str(problem),
        ) from problem


async def _close(zeroconf: AsyncZeroconf) -> None:
    # Closed while it still starts, it would leave sockets open; so would a closing that is
    # cancelled, which is why callers shield it.
    with contextlib.suppress(NotRunningException):
        await zeroconf.zeroconf.async_wait_for_start()
    await zeroconf.async_close()


class Announcement:
    """Tells the network of a service at `peer`, on the interface that has this address, until
    closed."""

    def __init__(self, zeroconf: AsyncZeroconf, info: ServiceInfo) -> None:
        self._zeroconf: AsyncZeroconf | None = zeroconf
        self._info = info
        # The announcement is repeated for some seconds.
        self._telling: asyncio.Future[None] | None = None

    @classmethod
    async def start(
        cls, service: str, name: str, peer: Peer, texts: Mapping[str, str]
    ) -> Announcement:
        info = ServiceInfo(
            service,
            f"{name}.{service}",
            addresses=[peer.packed],
            port=peer.port,
            properties=dict(texts),
            server=f"live-objects-{name}.local.",
        )
        announcement = cls(_open(peer.address), info)
        assert announcement._zeroconf is not None
        try:
            # Names are made of the place, which nobody else has: nobody is asked.
            telling = await announcement._zeroconf.async_register_service(
                info, cooperating_responders=True
            )
            announcement._telling = asyncio.ensure_future(telling)
        except BaseException:
            await announcement.close()
            raise
        return announcement

    async def close(self) -> None:
        """Takes the announcement back. Harmless when done twice."""
        zeroconf, self._zeroconf = self._zeroconf, None
        if self._telling is not None:
            self._telling.cancel()
        if zeroconf is not None:
            await zeroconf.async_unregister_all_services()
            await asyncio.shield(_close(zeroconf))


async def collect(
    look_out: Callable[[Callable[[Found], None]], Lookout], find_s: float, enough: int
) -> tuple[Found, ...]:
    """What a lookout tells until there is enough, or for `find_s`; nothing twice."""
    found: dict[Found, None] = {}
    done = asyncio.Event()

    def on_found(item: Found) -> None:
        found.setdefault(item)
        if len(found) >= enough:
            done.set()

    lookout = look_out(on_found)
    try:
        async with asyncio.timeout(find_s):
            await done.wait()
    except TimeoutError:
        pass
    finally:
        await lookout.close()
    return tuple(found)[:enough]


class Lookout:
    """Calls `on_announced` for everything of a service that is announced, also for what comes
    later, until closed. What went and came again is told again; `on_gone` gets its name."""

    def __init__(
        self,
        service: str,
        interface_address: str,
        on_announced: Callable[[Announced], None],
        on_gone: Callable[[str], None] | None = None,
    ) -> None:
        self._zeroconf: AsyncZeroconf | None = _open(interface_address)
        self._on_announced = on_announced
        self._on_gone = on_gone
        self._names: set[str] = set()
        # Each announcement is looked into by a task of its own.
        self._tasks: set[asyncio.Task[None]] = set()
        self._browser = AsyncServiceBrowser(
            self._zeroconf.zeroconf, [service], handlers=[self._on_change]
        )

    async def close(self) -> None:
        """Harmless when done twice."""
        zeroconf, self._zeroconf = self._zeroconf, None
        if zeroconf is not None:
            for task in self._tasks:
                task.cancel()
            await self._browser.async_cancel()
            await asyncio.shield(_close(zeroconf))

    def _on_change(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        if state_change is ServiceStateChange.Removed:
            if name in self._names and self._on_gone is not None:
                self._on_gone(name)
            self._names.discard(name)
        elif len(self._names) < ANSWERS_MAX or name in self._names:
            self._names.add(name)
            task = asyncio.get_running_loop().create_task(
                self._look_into(zeroconf, service_type, name)
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _look_into(self, zeroconf: Zeroconf, service_type: str, name: str) -> None:
        info = AsyncServiceInfo(service_type, name)
        if not await info.async_request(zeroconf, 1000):
            return
        texts = {
            key.decode("utf-8", "replace"): (value or b"").decode("utf-8", "replace")
            for key, value in info.properties.items()
        }
        for packed in info.addresses_by_version(IPVersion.All):
            try:
                peer = Peer(str(ipaddress.ip_address(packed)), info.port or 0)
            except (BadArgument, ValueError):
                log.debug("an announcement without an address: %s", name)
                continue
            self._on_announced(Announced(name, peer, texts))
