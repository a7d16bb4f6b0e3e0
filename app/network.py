"""The engine in the application: opened, joined to Qt's loop, put into words, closed cleanly."""

from __future__ import annotations

import logging
from collections.abc import Callable

from app.engine_watcher import EngineWatcher
from app.errors import StartProblem
from transport.config import EngineConfig
from transport.engine import Engine
from transport.errors import TransportError
from transport.events import Health, HealthChanged
from transport.loop import EngineJoin
from widgets.state_line import NetworkWords

log = logging.getLogger(__name__)

_CLOSE_BOUND_S = 1.0

_WORDS = {
    Health.SEARCHING: (
        "looking for others",
        "This PC is looking for others on the office network.",
    ),
    Health.JOINING: ("connecting", "This PC has found others and is being let in."),
    Health.MEMBER: ("multicast ok", "This PC reaches the others by multicast."),
    Health.HOST: ("multicast ok", "This PC reaches the others by multicast, and keeps their list."),
    Health.SUSPENDED: ("paused", "The network does not answer; this PC tries again by itself."),
    Health.CLOSED: ("closed", "The program is ending."),
}


class OfficeNetwork:
    """One engine for the whole program. `on_words` is told whenever its words have changed."""

    def __init__(self, interface: str, port: int) -> None:
        try:
            config = EngineConfig(interface=interface, port=port)
            self.engine = Engine.open(config)
        except TransportError as error:
            log.error("the engine does not open: %s", error.described)
            raise StartProblem(str(error)) from None
        self.on_words: Callable[[NetworkWords], None] | None = None
        self.engine.on_health = self._on_health
        self.engine.on_error = self._on_error
        self._info = self.engine.info()
        self._join: EngineJoin | None = None

    def start(self) -> None:
        """Lets the running Qt loop step the engine."""
        self._join = EngineJoin(self.engine, EngineWatcher())

    @property
    def words(self) -> NetworkWords:
        """What to tell the user about the network."""
        place = "This PC only" if self._info.loopback else "Office network"
        short, sentence = _WORDS[self.engine.health]
        address = f"{self._info.interface}, {self._info.address.text}"
        return NetworkWords(f"{place}: {short}", f"{sentence} ({address})")

    def close(self) -> None:
        """Tells the others, within a bound, and frees everything."""
        if self._join is not None:
            self._join.close()
        if not self.engine.close_blocking(_CLOSE_BOUND_S):
            log.info("the others were not told in time that this PC leaves")

    def _on_health(self, change: HealthChanged) -> None:
        log.info("network: %s, because %s", change.health.name, change.reason.name)
        if self.on_words is not None:
            self.on_words(self.words)

    def _on_error(self, error: TransportError) -> None:
        log.warning("network: %s", error.described)
