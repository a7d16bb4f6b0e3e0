"""The engine in the application: opened, joined to Qt's loop, put into words, closed cleanly.

With a profile it is in the profile's scope, asks those whom it met before, is announced to others,
and logs its events. Without one it is in Nearby and leaves no trace.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.collecting import Collecting
from app.engine_watcher import EngineWatcher
from app.errors import StartProblem
from app.network_profile import NetworkProfile
from app.network_wishes import NetworkWishes
from app.scope_care import ScopeCare
from transport.clone_watch import CloneWatch
from transport.config import Peer
from transport.engine import Engine
from transport.engine_logger import EngineLogger
from transport.errors import NoInterface, PortInUse, TransportError
from transport.events import Health, HealthChanged
from transport.finder import Finder
from transport.key_rotation import KeyRotation
from transport.link_watch import LinkWatch
from transport.loop import Closable, EngineJoin
from transport.scopes import NEARBY
from widgets.language import tr
from widgets.state_words import NetworkWords

log = logging.getLogger(__name__)

_CLOSE_BOUND_S = 1.0
# How often is looked whether multicast still reaches everybody.
_LOOK_S = 2.0


def _health_words(health: Health) -> tuple[str, str]:
    """A few words and a sentence about how this PC is connected."""
    words = {
        Health.SEARCHING: (
            tr("looking for others"),
            tr("This PC is looking for others on the office network."),
        ),
        Health.JOINING: (tr("connecting"), tr("This PC has found others and is being let in.")),
        Health.MEMBER: (tr("multicast ok"), tr("This PC reaches the others by multicast.")),
        Health.HOST: (
            tr("multicast ok"),
            tr("This PC reaches the others by multicast, and keeps their list."),
        ),
        Health.SUSPENDED: (
            tr("paused"),
            tr("The network does not answer; this PC tries again by itself."),
        ),
        Health.CLOSED: (tr("closed"), tr("The program is ending.")),
    }
    return words[health]


def _unicast_words() -> tuple[str, str]:
    return (
        tr("partly by unicast"),
        tr(
            "Multicast does not reach everybody here, or somebody is on Wi-Fi, so some objects are"
            " sent to each PC one by one. That works, with more traffic; “live-objects doctor”"
            " tells why."
        ),
    )


def _wireless_words() -> tuple[str, str]:
    return (
        tr("by unicast on Wi-Fi"),
        tr(
            "Multicast is slow on Wi-Fi, so what this PC shares with a few others is sent to each"
            " of them one by one. A cable makes it less traffic."
        ),
    )


def _no_multicast_words() -> tuple[str, str]:
    return (
        tr("by unicast"),
        tr(
            "The network interface of this PC carries no multicast, so everything is sent to each"
            " PC one by one. Whoever is not found can be reached by a typed address."
        ),
    )


class OfficeNetwork:
    """One engine for the whole program. `on_words` is told whenever its words have changed."""

    def __init__(self, wishes: NetworkWishes, profile: NetworkProfile | None = None) -> None:
        self._profile = profile
        self.scope = profile.scope() if profile is not None else NEARBY
        met = profile.book().peers(self.scope) if profile is not None else ()
        try:
            self.engine = Engine.open(wishes.config(self.scope, met))
        except TransportError as error:
            log.error("the engine does not open: %s", error.described)
            raise StartProblem(_sentence(error, wishes)) from None
        self.on_words: Callable[[NetworkWords], None] | None = None
        self.engine.on_health = self._on_health
        self.engine.on_error = self._on_error
        self._info = self.engine.info()
        self._join: EngineJoin | None = None
        self._keys: KeyRotation | None = None
        self._finder: Finder | None = None
        self._logger: EngineLogger | None = None
        self._collecting: Collecting | None = None
        self._left_out = False
        self._by_unicast = False
        self._looking: Closable | None = None
        self._links: LinkWatch | None = None
        self._clones: CloneWatch | None = None
        # Told when this PC has come to another network, with its address there.
        self.on_moved: Callable[[str], None] | None = None
        # In a private network: the care for its key.
        self.care: ScopeCare | None = None

    def start(
        self,
        my_name: Callable[[], str] = socket.gethostname,
        *,
        log_events: bool = True,
        log_activity: bool = False,
    ) -> None:
        """Lets the running Qt loop step the engine; `my_name` is what others of a private network
        read."""
        watcher = EngineWatcher()
        self._join = EngineJoin(self.engine, watcher)
        self._clones = CloneWatch(self.engine, self._join, watcher)
        self._keys = KeyRotation(self.engine, watcher.call_at, time.monotonic, time.time)
        self._look(watcher)
        self._links = LinkWatch(self.engine, watcher, time.monotonic, self._on_moved)
        if self._profile is not None and self.scope.private:
            self.care = ScopeCare(
                self.engine, self._profile, watcher.call_at, my_name, self._on_left_out
            )
        if self._profile is not None and log_events:
            collecting = Collecting(self._profile.events, watcher.call_at, time.monotonic)
            self._collecting = collecting
            events = self._profile.open_log(self.scope, collecting.segment_closed)
            person = self._profile.pseudonym() if log_activity else ""
            self._logger = EngineLogger(
                self.engine, events, watcher.call_at, time.monotonic, person=person
            )

    def find_others(self, loop: asyncio.AbstractEventLoop) -> None:
        """Announces this PC by mDNS and remembers who else is announced, in a task of the loop."""
        if self._profile is not None:
            self._finder = Finder(self.engine, self._profile.book())
            self._finder.start(loop)
        if self.care is not None:
            self.care.start(loop, self.engine.config.known_peers, self._finder)

    async def stop_finding(self) -> None:
        """Takes the announcement back, within a bound."""
        if self.care is not None:
            await self.care.close()
        if self._finder is not None:
            await self._finder.close()

    def choose_interface(self, name: str) -> None:
        """Goes to that interface at once, empty: to the one that suits; raises TransportError, and
        stays."""
        if self._links is None:
            return
        before = self.engine.wanted
        self.engine.wanted = replace(before, interface=name)
        try:
            self._links.move()
        except TransportError:
            self.engine.wanted = before
            raise

    @property
    def place(self) -> str:
        """Interface, address and port; somebody who does not find this PC can type the latter."""
        return f"{self._info.interface}, {self._info.address.text}:{self._info.address.port}"

    @property
    def found(self) -> tuple[Peer, ...]:
        """Others of the scope who are announced by mDNS."""
        return self._finder.found if self._finder is not None else ()

    def connect(self, peers: Sequence[Peer]) -> None:
        """Asks at typed addresses, now and at the next start; raises TransportError."""
        for peer in peers:
            self.engine.add_peer(peer)
        if self._profile is not None:
            self._profile.book().remember(self.scope, peers)

    @property
    def words(self) -> NetworkWords:
        """What to tell the user about the network."""
        place = tr("This PC only") if self._info.loopback else tr("Office network")
        if self.scope.private:
            # Whoever is in a network of their own always sees in which.
            place = self.scope.name
        short, sentence = _health_words(self.engine.health)
        if self.settled and not self._info.multicast:
            short, sentence = _no_multicast_words()
        elif self.settled and self._by_unicast:
            wireless = self.engine.prefers_unicast
            short, sentence = _wireless_words() if wireless else _unicast_words()
        if self._left_out:
            short = tr("not a member any more")
            sentence = tr(
                "The network's key was renewed without you: ask somebody in it to invite you again."
            )
        return NetworkWords(f"{place}: {short}", f"{sentence} ({self.place})")

    @property
    def settled(self) -> bool:
        """Whether this PC has found its place among the others, or that it is the first."""
        return self.engine.health in (Health.MEMBER, Health.HOST)

    def fetched(self, group: str) -> None:
        """For the event log: the program has joined this group by itself."""
        if self._logger is not None:
            self._logger.fetched(bytes.fromhex(group))

    def used(self, group: str) -> None:
        """For the event log: the person has opened what was fetched."""
        if self._logger is not None:
            self._logger.used(bytes.fromhex(group))

    def close(self) -> None:
        """Tells the others, within a bound, and frees everything."""
        if self._logger is not None:
            self._logger.close()
        if self._collecting is not None:
            self._collecting.close()
        if self._looking is not None:
            self._looking.close()
        if self._links is not None:
            self._links.close()
        if self._clones is not None:
            self._clones.close()
        if self._keys is not None:
            self._keys.close()
        if self._join is not None:
            self._join.close()
        if not self.engine.close_blocking(_CLOSE_BOUND_S):
            log.info("the others were not told in time that this PC leaves")

    def _look(self, watcher: EngineWatcher) -> None:
        """Notices that multicast stops or begins to reach everybody, now and then."""
        self._looking = watcher.call_at(time.monotonic() + _LOOK_S, lambda: self._look(watcher))
        by_unicast = not self.engine.closed and self.engine.counters()["unicast_now"] > 0
        if by_unicast != self._by_unicast:
            self._by_unicast = by_unicast
            log.info("network: %s", "partly by unicast" if by_unicast else "all by multicast")
            self._tell()

    def _on_moved(self) -> None:
        self._info = self.engine.info()
        for follower in (self._finder, self.care):
            if follower is not None:
                follower.move()
        if self.on_moved is not None:
            self.on_moved(self._info.address.text)
        self._tell()

    def _tell(self) -> None:
        if self.on_words is not None:
            self.on_words(self.words)

    def _on_health(self, change: HealthChanged) -> None:
        log.info("network: %s, because %s", change.health.name, change.reason.name)
        self._tell()

    def _on_left_out(self) -> None:
        self._left_out = True
        self._tell()

    def _on_error(self, error: TransportError) -> None:
        log.warning("network: %s", error.described)


def answer_connect(network: OfficeNetwork, request: Mapping[str, Any]) -> dict[str, Any]:
    """A later start of the program brings addresses that were typed there."""
    try:
        network.connect([Peer(str(address), int(port)) for address, port in request["peers"]])
    except (TransportError, KeyError, TypeError, ValueError) as problem:
        return {"error": str(problem)}
    return {}


def _sentence(error: TransportError, wishes: NetworkWishes) -> str:
    """What happened, and what to do about it by the options that the program has."""
    if isinstance(error, NoInterface) and not wishes.interface:
        return tr("This PC has no network interface that is up: switch one on.")
    if isinstance(error, PortInUse):
        # The engine knows which port it was: the one asked for, or the one that all PCs share.
        happened = str(error.details.get("engine", error)).partition(";")[0]
        if f"port {wishes.port} " in happened:
            return tr(
                "{happened}: stop that program, or name another port with --port.",
                happened=happened,
            )
        return tr("{happened}: stop that program.", happened=happened)
    return str(error)
