"""Owns finding engines of a scope where the engine's own multicast does not reach: by mDNS.

An engine announces where it is, under a hash of its scope's id; others look out for such
announcements and tell their engines. What is found is only an address: whether an engine of the
scope is there, the scope's key decides. zeroconf runs in the event loop, without threads.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Callable
from hashlib import blake2b

from zeroconf import IPVersion, ServiceInfo, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from transport.config import KNOWN_PEERS_MAX, Peer
from transport.errors import BadArgument, SystemRefused
from transport.scopes import Scope, scope_label

log = logging.getLogger(__name__)

SERVICE = "_live-objects._udp.local."
FIND_S = 1.0
# Announcements known at a time; more in one network are more than anybody needs to be let in.
ANSWERS_MAX = 64


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


class Announcement:
    """Tells the network where this engine is, until closed."""

    def __init__(self, zeroconf: AsyncZeroconf, info: ServiceInfo) -> None:
        self._zeroconf: AsyncZeroconf | None = zeroconf
        self._info = info

    @classmethod
    async def start(cls, scope: Scope, peer: Peer) -> Announcement:
        """Announces an engine at `peer`, on the interface that has this address."""
        # One place has one name, also after a restart, and the name tells nothing else.
        place = f"{scope_label(scope)} {peer.address} {peer.port}".encode()
        name = blake2b(place, digest_size=8).hexdigest()
        info = ServiceInfo(
            SERVICE,
            f"{name}.{SERVICE}",
            addresses=[peer.packed],
            port=peer.port,
            properties={"scope": scope_label(scope), "version": "1"},
            server=f"live-objects-{name}.local.",
        )
        announcement = cls(_open(peer.address), info)
        assert announcement._zeroconf is not None
        try:
            # Nobody else has the place, so nobody is asked whether the name is free.
            await announcement._zeroconf.async_register_service(info, cooperating_responders=True)
        except BaseException:
            await announcement.close()
            raise
        return announcement

    async def close(self) -> None:
        """Takes the announcement back. Harmless when done twice."""
        zeroconf, self._zeroconf = self._zeroconf, None
        if zeroconf is not None:
            await zeroconf.async_unregister_all_services()
            await zeroconf.async_close()


async def find_peers(
    scope: Scope,
    interface_address: str,
    *,
    find_s: float = FIND_S,
    enough: int = KNOWN_PEERS_MAX,
) -> tuple[Peer, ...]:
    """Engines of the scope that announce themselves; waits until there are enough, or for
    `find_s`."""
    found: list[Peer] = []
    done = asyncio.Event()

    def on_peer(peer: Peer) -> None:
        if peer not in found and len(found) < enough:
            found.append(peer)
        if len(found) >= enough:
            done.set()

    lookout = Lookout(scope, interface_address, on_peer)
    try:
        async with asyncio.timeout(find_s):
            await done.wait()
    except TimeoutError:
        pass
    finally:
        await lookout.close()
    return tuple(found)


class Lookout:
    """Calls `on_peer` for each engine of the scope that is announced, also for those announced
    later, until closed. One that went and came again is told again."""

    def __init__(
        self, scope: Scope, interface_address: str, on_peer: Callable[[Peer], None]
    ) -> None:
        self._zeroconf: AsyncZeroconf | None = _open(interface_address)
        self._label = scope_label(scope).encode()
        self._on_peer = on_peer
        self._names: set[str] = set()
        # Each announcement is looked into by a task of its own.
        self._tasks: set[asyncio.Task[None]] = set()
        self._browser = AsyncServiceBrowser(
            self._zeroconf.zeroconf, [SERVICE], handlers=[self._on_change]
        )

    async def close(self) -> None:
        """Harmless when done twice."""
        zeroconf, self._zeroconf = self._zeroconf, None
        if zeroconf is not None:
            for task in self._tasks:
                task.cancel()
            await self._browser.async_cancel()
            await zeroconf.async_close()

    def _on_change(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        if state_change is ServiceStateChange.Removed:
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
        if info.properties.get(b"scope") != self._label:
            return
        for packed in info.addresses_by_version(IPVersion.All):
            try:
                peer = Peer(str(ipaddress.ip_address(packed)), info.port or 0)
            except (BadArgument, ValueError):
                log.debug("an announcement without an address: %s", name)
                continue
            self._on_peer(peer)
