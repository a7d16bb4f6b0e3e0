"""Contents between two programs over TCP, and the same on a clock that is turned by hand."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.liveobj.support import Clock
from transport.bulk import content_id
from transport.interfaces import StreamPlace, Streams
from transport.simulated_streams import PIECE_BYTES, StreamHub
from transport.streams import LoopStreams

GROUP, KEY = b"g" * 16, b"k" * 32
DATA = random.Random(1).randbytes(3 * PIECE_BYTES + 17)
NAME = content_id(DATA)


class Fetch:
    """One fetch and what was said about it."""

    def __init__(self, streams: Streams, place: StreamPlace, target: Path, **other: bytes) -> None:
        self.progress: list[tuple[int, int]] = []
        self.results: list[str] = []
        self.fetching = streams.fetch(
            place,
            GROUP,
            other.get("key", KEY),
            other.get("name", NAME),
            target,
            len(DATA),
            lambda done, size: self.progress.append((done, size)),
            self.results.append,
        )


async def wait_for(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is waited for are callbacks
            await asyncio.sleep(0.005)


def test_a_content_goes_from_one_program_to_another(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(DATA)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        one, two = (LoopStreams(loop, "127.0.0.1", os.urandom) for _ in range(2))
        assert one.place is None
        await one.start()
        assert one.place is not None
        one.offer(GROUP, KEY, NAME, source)
        good = Fetch(two, one.place, target)
        assert good.results == []
        await wait_for(lambda: bool(good.results))
        assert good.results == [""]
        assert target.read_bytes() == DATA
        assert good.progress[-1] == (len(DATA), len(DATA))
        stranger = Fetch(two, one.place, tmp_path / "x", key=b"w" * 32)
        missing = Fetch(two, one.place, tmp_path / "y", name=b"n" * 32)
        await wait_for(lambda: bool(stranger.results and missing.results))
        assert all([*stranger.results, *missing.results])
        before = one.place
        await one.move("127.0.0.2")
        assert one.place is not None
        assert one.place.address == "127.0.0.2"
        late, moved = Fetch(two, before, tmp_path / "l"), Fetch(two, one.place, tmp_path / "m")
        await wait_for(lambda: bool(late.results and moved.results))
        assert (bool(late.results[0]), moved.results) == (True, [""])
        one.withdraw(GROUP)
        gone = Fetch(two, one.place, tmp_path / "z")
        await wait_for(lambda: bool(gone.results))
        assert gone.results != [""]
        cancelled = Fetch(two, one.place, tmp_path / "c")
        cancelled.fetching.cancel()
        await one.close()
        nobody = Fetch(two, one.place, tmp_path / "n")
        await wait_for(lambda: bool(nobody.results))
        assert "does not answer" in nobody.results[0]
        await two.close()
        assert cancelled.results == []

    asyncio.run(run())


def test_a_computer_without_a_port_can_still_fetch() -> None:
    async def run() -> None:
        streams = LoopStreams(asyncio.get_running_loop(), "192.0.2.1", os.urandom)
        await streams.start()
        assert streams.place is None
        await streams.close()

    asyncio.run(run())


def test_the_simulated_ones_do_the_same(tmp_path: Path) -> None:
    clock = Clock()
    hub = StreamHub(clock)
    one, two = hub.streams(), hub.streams()
    place = one.place
    assert place is not None
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(DATA)
    one.offer(GROUP, KEY, NAME, source)
    good = Fetch(two, place, target)
    clock.advance(0.0025)
    hub.reachable = lambda _one, _other: False
    clock.advance(1)
    assert "does not answer" in good.results[0]
    assert not target.exists()
    hub.reachable = lambda _one, _other: True
    again = Fetch(two, place, target)
    clock.advance(1)
    assert again.results == [""]
    assert again.progress[0][0] > PIECE_BYTES, "it goes on where it stopped"
    assert target.read_bytes() == DATA


@pytest.mark.parametrize("fault", ["key", "name", "damage"])
def test_what_is_wrong_in_the_simulation_is_refused(tmp_path: Path, fault: str) -> None:
    clock = Clock()
    hub = StreamHub(clock)
    one, two = hub.streams(), hub.streams()
    place = one.place
    assert place is not None
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(DATA)
    one.offer(GROUP, KEY, NAME, source)
    if fault == "damage":
        hub.damage = lambda piece: bytes(len(piece))
        fetch = Fetch(two, place, target)
    else:
        fetch = Fetch(two, place, target, **{fault: b"x" * 32})
    clock.advance(1)
    assert fetch.results
    assert fetch.results[0]
    assert not target.exists()
