"""Owns noticing that this computer has come to another network: a cable or Wi-Fi that came up after
the program, another address, another office.

The system says when its interfaces change (Linux: netlink); what that means for the engine is a
pure function. An engine whose network has gone stays where it is: mostly it comes back. It is
moved (`Engine.move`) when it would not be reached any more although there is a way.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence

from transport.engine import Engine
from transport.errors import EnvironmentRefused
from transport.links import Kind, Link, list_links
from transport.loop import Closable, Watcher

log = logging.getLogger(__name__)

# Interfaces come up in several steps: link, address, routes.
SETTLE_S = 1.5
# A place that was refused may be had a little later.
RETRY_S = 5.0
_LINKS_AND_ADDRESSES = 0x1 | 0x10 | 0x40  # RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE
_NEWS_BYTES_MAX = 65536


def wants_move(wanted: str, used: str, address: str, loopback: bool, links: Sequence[Link]) -> bool:
    """Whether an engine on the interface `used`, which had that address when it was opened, should
    be opened anew; `wanted` is the interface that somebody has chosen, if one has."""
    if loopback:
        return not wanted and any(_leads_outside(link) for link in links)
    here = next((link for link in links if link.name == used), None)
    if here is not None and here.usable:
        return here.address != address and wanted in {"", used}
    return not wanted and any(_leads_outside(link) for link in links)


def _leads_outside(link: Link) -> bool:
    return link.usable and link.kind in {Kind.WIRED, Kind.WIRELESS, Kind.VPN}


class LinkWatch:
    """Moves an engine after its computer, until closed; `on_moved` is told after each time."""

    def __init__(
        self,
        engine: Engine,
        watcher: Watcher,
        clock: Callable[[], float],
        on_moved: Callable[[], None],
        links: Callable[[], Sequence[Link]] = list_links,
    ) -> None:
        self._engine = engine
        self._watcher = watcher
        self._clock = clock
        self._on_moved = on_moved
        self._links = links
        self._looking: Closable | None = None
        self._news = _listen()
        self._reading: Closable | None = None
        if self._news is not None:
            self._reading = watcher.watch_readable(self._news.fileno(), self._on_news)
        self._note_place()
        # Something may have changed between the engine's opening and here.
        self._look_at(SETTLE_S)

    def close(self) -> None:
        """Harmless when done twice."""
        for each in (self._reading, self._looking):
            if each is not None:
                each.close()
        self._reading = self._looking = None
        if self._news is not None:
            self._news.close()
            self._news = None

    def _note_place(self) -> None:
        info = self._engine.info()
        self._used, self._loopback = info.interface, info.loopback
        # The interface's first address, as it is asked for later: the engine may use another.
        found = [link.address for link in self._links() if link.name == info.interface]
        self._address = found[0] if found else info.address.text

    def _on_news(self) -> None:
        assert self._news is not None
        try:
            while self._news.recv(_NEWS_BYTES_MAX):
                pass
        except BlockingIOError:
            pass
        except OSError:
            log.debug("news of interfaces were lost: they are looked at anyway")
        self._look_at(SETTLE_S)

    def _look_at(self, wait_s: float) -> None:
        if self._looking is not None:
            self._looking.close()
        self._looking = self._watcher.call_at(self._clock() + wait_s, self._look)

    def _look(self) -> None:
        self._looking = None
        engine = self._engine
        if engine.closed or engine.departing or engine.config.ipv6:
            return
        wanted, links = engine.wanted.interface, self._links()
        if not wants_move(wanted, self._used, self._address, self._loopback, links):
            return
        try:
            self.move()
        except EnvironmentRefused as problem:
            log.info("the engine stays where it is: %s", problem.described)
            self._look_at(RETRY_S)

    def move(self) -> None:
        """Moves the engine now; raises what `Engine.move` does."""
        self._engine.move()
        self._note_place()
        log.info("the engine has moved to %s, %s", self._used, self._address)
        self._on_moved()


def _listen() -> socket.socket | None:
    """Where the system tells of its interfaces; None where it does not."""
    if not hasattr(socket, "AF_NETLINK"):
        return None
    try:
        news = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        news.setblocking(False)
        news.bind((0, _LINKS_AND_ADDRESSES))
    except OSError as problem:
        log.info("changes of interfaces are not noticed: %s", problem)
        return None
    return news
