"""The engine's descriptors and deadlines, seen through Qt."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable
from typing import Any

from app.engine_watcher import EngineWatcher
from transport.loop import EngineJoin


def test_a_readable_descriptor_calls_back_until_it_is_closed(qtbot: Any) -> None:
    left, right = socket.socketpair()
    with left, right:
        seen: list[bytes] = []
        watcher = EngineWatcher()
        watch = watcher.watch_readable(right.fileno(), lambda: seen.append(right.recv(16)))
        left.send(b"one")
        qtbot.waitUntil(lambda: seen == [b"one"])
        watch.close()
        watch.close()
        left.send(b"two")
        done: list[bool] = []
        watcher.call_at(time.monotonic() + 0.01, lambda: done.append(True))
        qtbot.waitUntil(lambda: done == [True])
        assert seen == [b"one"]


def test_deadlines_come_in_order_and_never_early(qtbot: Any) -> None:
    watcher = EngineWatcher()
    start_s = time.monotonic()
    seen: list[tuple[str, bool]] = []

    def at(name: str, deadline_s: float) -> None:
        watcher.call_at(deadline_s, lambda: seen.append((name, time.monotonic() >= deadline_s)))

    at("second", start_s + 0.02)
    at("first", start_s + 0.005)
    at("past", start_s - 1)
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen == [("past", True), ("first", True), ("second", True)]


def test_a_closed_deadline_does_not_come(qtbot: Any) -> None:
    watcher = EngineWatcher()
    seen: list[str] = []
    watcher.call_at(time.monotonic() + 0.001, lambda: seen.append("closed")).close()
    watcher.call_at(time.monotonic() + 0.01, lambda: seen.append("kept"))
    qtbot.waitUntil(lambda: bool(seen))
    assert seen == ["kept"]


class SmallEngine:
    """As much of an engine as the join needs: reads a socket, wants to be stepped now and then."""

    def __init__(self, reading: socket.socket) -> None:
        self._reading = reading
        self.on_wake: Callable[[], None] | None = None
        self.on_closing: Callable[[], None] | None = None
        self.received: list[bytes] = []
        self.deadline_s = math.inf
        self.wants_write = False
        self.closed = False
        self.steps = 0

    def step(self, budget_s: float) -> bool:
        self.steps += 1
        self.deadline_s = math.inf
        try:
            self.received.append(self._reading.recv(16))
        except BlockingIOError:
            return False
        return True

    def descriptors(self) -> tuple[int, tuple[int, ...]]:
        return 0, (self._reading.fileno(),)


def test_an_engine_is_stepped_by_packets_deadlines_and_wakes_and_sleeps_otherwise(
    qtbot: Any,
) -> None:
    left, right = socket.socketpair(type=socket.SOCK_DGRAM)
    with left, right:
        right.setblocking(False)
        engine = SmallEngine(right)
        join = EngineJoin(engine, EngineWatcher())
        for number in range(5):
            left.send(b"%d" % number)
        qtbot.waitUntil(lambda: engine.received == [b"0", b"1", b"2", b"3", b"4"])
        quiet = engine.steps
        qtbot.wait(60)  # long enough for a busy loop to be seen
        assert engine.steps <= quiet + 1
        engine.deadline_s = time.monotonic() + 0.01
        assert engine.on_wake is not None
        before = engine.steps
        engine.on_wake()
        qtbot.waitUntil(lambda: engine.steps > before)
        join.close()
        after = engine.steps
        left.send(b"unseen")
        qtbot.wait(30)
        assert engine.steps == after
