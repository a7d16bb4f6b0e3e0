"""The throttle, with a clock whose hands the test turns."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from widgets.throttle import QtAlarm, Throttle


class ManualTime:
    def __init__(self) -> None:
        self.now_s = 100.0
        self._at_s = 0.0
        self._callback: Callable[[], None] | None = None

    def clock(self) -> float:
        return self.now_s

    def set(self, delay_s: float, callback: Callable[[], None]) -> None:
        self._at_s = self.now_s + delay_s
        self._callback = callback

    def clear(self) -> None:
        self._callback = None

    def advance(self, seconds: float) -> None:
        self.now_s += seconds
        if self._callback is not None and self._at_s <= self.now_s:
            callback, self._callback = self._callback, None
            callback()


def make(calls: list[float]) -> tuple[Throttle, ManualTime]:
    hands = ManualTime()
    throttle = Throttle(lambda: calls.append(hands.now_s), hands, 0.02, hands.clock)
    return throttle, hands


def test_the_first_request_is_served_at_once() -> None:
    calls: list[float] = []
    throttle, hands = make(calls)
    throttle.request()
    assert calls == []
    hands.advance(0)
    assert calls == [100.0]


def test_a_burst_is_one_call_per_interval() -> None:
    calls: list[float] = []
    throttle, hands = make(calls)
    for _ in range(100):
        throttle.request()
        hands.advance(0.001)
    hands.advance(0.02)
    assert 5 <= len(calls) <= 7
    assert all(later - earlier >= 0.02 for earlier, later in itertools.pairwise(calls))


def test_a_request_made_by_the_work_itself_comes_one_interval_later() -> None:
    calls: list[float] = []
    hands = ManualTime()

    def work() -> None:
        calls.append(hands.now_s)
        if len(calls) == 1:
            throttle.request()

    throttle = Throttle(work, hands, 0.02, hands.clock)
    throttle.request()
    hands.advance(0)
    hands.advance(0.01)
    assert calls == [100.0]
    hands.advance(0.01)
    assert len(calls) == 2


def test_flush_does_it_now_and_only_when_asked_for() -> None:
    calls: list[float] = []
    throttle, hands = make(calls)
    throttle.flush()
    assert calls == []
    throttle.request()
    throttle.flush()
    assert calls == [100.0]
    hands.advance(1)
    assert calls == [100.0]


def test_nothing_comes_after_close() -> None:
    calls: list[float] = []
    throttle, hands = make(calls)
    throttle.request()
    throttle.close()
    hands.advance(1)
    assert calls == []


def test_with_the_alarm_of_qt(qtbot: Any) -> None:
    calls: list[int] = []
    throttle = Throttle(lambda: calls.append(1), QtAlarm())
    throttle.request()
    throttle.request()
    qtbot.waitUntil(lambda: calls == [1])
