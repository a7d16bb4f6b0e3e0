"""Contents between nodes of one process, on any clock: what `transport.streams` is on TCP, with
faults on demand. Bytes are checked as there; what has come is resumed as there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from transport.bulk import content_id
from transport.interfaces import Fetching, StreamPlace
from transport.whole_file import put_in_place

PIECE_BYTES = 1 << 16
_PIECE_S = 0.001


class Clock(Protocol):
    """Runs callbacks later."""

    def call_later(self, delay: float, callback: Callable[[], None]) -> object: ...


class StreamHub:
    """Connects the streams made by it. `reachable(one, other)` tells whether two nodes see each
    other; `damage` may change a piece on its way."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.nodes: dict[int, SimulatedStreams] = {}
        self.reachable: Callable[[int, int], bool] = lambda _one, _other: True
        self.damage: Callable[[bytes], bytes] = lambda piece: piece

    def streams(self) -> SimulatedStreams:
        """One more node."""
        port = len(self.nodes) + 1
        self.nodes[port] = SimulatedStreams(self, port)
        return self.nodes[port]


class SimulatedStreams:
    """The streams of one node; its place is its number."""

    def __init__(self, hub: StreamHub, port: int) -> None:
        self._hub = hub
        self._port = port
        self.offers: dict[tuple[bytes, bytes], tuple[bytes, Path]] = {}

    @property
    def place(self) -> StreamPlace | None:
        return StreamPlace("127.0.0.1", self._port)

    def offer(self, group_id: bytes, key: bytes, name: bytes, path: Path) -> None:
        self.offers[group_id, name] = (key, path)

    def withdraw(self, group_id: bytes, name: bytes | None = None) -> None:
        for offer in [each for each in self.offers if each[0] == group_id]:
            if name is None or offer[1] == name:
                del self.offers[offer]

    def fetch(
        self,
        place: StreamPlace,
        group_id: bytes,
        key: bytes,
        name: bytes,
        destination: Path,
        size_max: int,
        progress: Callable[[int, int], None],
        done: Callable[[str], None],
    ) -> Fetching:
        peer = self._hub.nodes.get(place.port)
        arrival = _Arrival(self._hub, (self._port, place.port), name, destination, progress, done)

        def begin() -> None:
            found = peer.offers.get((group_id, name)) if peer is not None else None
            if found is None or found[0] != key or not found[1].is_file():
                arrival.end("The other computer does not have that content: ask somebody else.")
            elif found[1].stat().st_size > size_max:
                arrival.end(f"The content has more than the {size_max} bytes allowed.")
            else:
                arrival.step(found[1])

        self._hub.clock.call_later(_PIECE_S, begin)
        return arrival


class _Arrival:
    """A file that is growing, piece by piece."""

    def __init__(
        self,
        hub: StreamHub,
        nodes: tuple[int, int],
        name: bytes,
        destination: Path,
        progress: Callable[[int, int], None],
        done: Callable[[str], None],
    ) -> None:
        self._hub = hub
        self._nodes = nodes
        self._name = name
        self._destination = destination
        self._part = destination.with_name(destination.name + ".part")
        self._progress = progress
        self._done = done
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    def end(self, problem: str) -> None:
        if not self._cancelled:
            self._cancelled = True
            self._done(problem)

    def step(self, source: Path) -> None:
        if self._cancelled:
            return
        if not self._hub.reachable(*self._nodes):
            self.end("The other computer does not answer: try again, or ask somebody else.")
            return
        at = self._part.stat().st_size if self._part.exists() else 0
        with source.open("rb") as file:
            file.seek(at)
            piece = file.read(PIECE_BYTES)
        with self._part.open("ab") as file:
            file.write(self._hub.damage(piece))
        size = source.stat().st_size
        self._progress(min(at + len(piece), size), size)
        if at + len(piece) < size:
            self._hub.clock.call_later(_PIECE_S, lambda: self.step(source))
        elif content_id(self._part.read_bytes()) != self._name:
            self._part.unlink()
            self.end("What arrived is not what was asked for: it was thrown away.")
        else:
            put_in_place(self._part, self._destination)
            self.end("")
