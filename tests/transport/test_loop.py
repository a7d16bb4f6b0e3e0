"""The join of engine and loop: bounded steps, fair to the user interface, quiet when idle."""

from __future__ import annotations

import asyncio
import math
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transport.virtual_loop import VirtualLoop
from transport.errors import Closed
from transport.loop import (
    BUDGET_S,
    BUDGET_S_MAX,
    BUDGET_S_MIN,
    FRAME_S,
    WRITE_RETRY_S,
    AsyncioWatcher,
    EngineJoin,
    FrameBudget,
    Steppable,
)


class FakeEngine:
    """Says what it is told to say; each step takes the time that it was allowed."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.on_wake: Callable[[], None] | None = None
        self.on_closing: Callable[[], None] | None = None
        self.loop = loop
        self.budgets: list[float] = []
        self.step_times: list[float] = []
        self.work_s = 0.0
        self.listed = (1, (10, 11))
        self.deadline_s = math.inf
        self.wants_write = False
        self.closed = False
        self.step_cost = 1.0

    def step(self, budget_s: float) -> bool:
        if self.closed:
            raise Closed("The engine has been closed.")
        self.budgets.append(budget_s)
        self.step_times.append(self.loop.now_s)
        self.loop.readable.clear()
        worked_s = min(self.work_s, budget_s)
        self.work_s -= worked_s
        self.loop.now_s += worked_s * self.step_cost
        if self.deadline_s <= self.loop.now_s:
            self.deadline_s = math.inf
        return self.work_s > 1e-9

    def descriptors(self) -> tuple[int, tuple[int, ...]]:
        return self.listed


@pytest.fixture
def loop() -> VirtualLoop:
    return VirtualLoop()


@pytest.fixture
def engine(loop: VirtualLoop) -> FakeEngine:
    return FakeEngine(loop)


@pytest.fixture
def join(loop: VirtualLoop, engine: FakeEngine) -> EngineJoin:
    steppable: Steppable = engine
    joined = EngineJoin(steppable, loop, clock=loop.clock)
    loop.run_until(loop.now_s)
    engine.budgets.clear()
    engine.step_times.clear()
    return joined


def test_readable_descriptor_makes_a_step(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    loop.readable = {11}
    loop.round()
    assert engine.budgets == [pytest.approx(BUDGET_S)]
    assert join.counters.steps == 2


def test_idle_engine_leaves_nothing_in_the_loop(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    loop.run_until(loop.now_s + 10)
    assert engine.budgets == []
    assert loop.appointments == []


def test_deadline_makes_a_step_at_its_time(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    due_s = engine.deadline_s = loop.now_s + 3
    assert engine.on_wake is not None
    engine.on_wake()
    loop.run_until(loop.now_s + 5)
    assert engine.step_times[-1] == due_s
    assert len(engine.step_times) == 2


def test_later_deadline_costs_no_new_timer(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    start_s = loop.now_s
    for delay_s in (1.0, 2.0, 3.0):
        engine.deadline_s = start_s + delay_s
        loop.readable = {10}
        loop.round()
    assert loop.appointments == [start_s + 1]
    loop.run_until(start_s + 5)
    assert engine.step_times[-1] == start_s + 3


def test_earlier_deadline_replaces_the_timer(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    start_s = loop.now_s
    for delay_s in (3.0, 2.0, 1.0):
        engine.deadline_s = start_s + delay_s
        loop.readable = {10}
        loop.round()
    assert loop.appointments == [start_s + 1]


def test_more_work_is_done_in_bounded_steps_with_turns_of_the_loop_between(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    engine.work_s = 0.01
    loop.readable = {10}
    rounds = 0
    while engine.work_s > 0:
        loop.readable = {10, 11}
        loop.round()
        rounds += 1
        assert len(engine.budgets) == rounds, "one step per turn of the loop, whatever is readable"
    assert max(engine.budgets) < BUDGET_S_MAX


def test_wake_asks_for_one_step_only(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    assert engine.on_wake is not None
    for _ in range(1000):
        engine.on_wake()
    assert engine.budgets == [], "never inside the call"
    loop.run_until(loop.now_s)
    assert len(engine.budgets) == 1


def test_changed_descriptors_are_watched_in_place_of_the_old(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    assert loop.watched(10)
    assert loop.watched(11)
    engine.listed = (2, (11, 12))
    loop.readable = {10}
    loop.round()
    assert not loop.watched(10)
    assert loop.watched(11)
    assert loop.watched(12)


def test_full_socket_is_tried_again_soon(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    engine.wants_write = True
    loop.readable = {10}
    loop.round()
    assert loop.appointments == [pytest.approx(loop.now_s + WRITE_RETRY_S)]
    engine.wants_write = False
    loop.run_until(loop.now_s + 1)
    assert len(engine.budgets) == 2
    assert loop.appointments == []


def test_late_deadline_is_counted(loop: VirtualLoop, engine: FakeEngine, join: EngineJoin) -> None:
    engine.deadline_s = loop.now_s + 1
    loop.readable = {10}
    loop.round()
    loop.now_s += 1.5
    loop.run_until(loop.now_s)
    assert join.counters.late_wakeups == 1


def test_longest_step_is_kept(loop: VirtualLoop, engine: FakeEngine, join: EngineJoin) -> None:
    engine.work_s, engine.step_cost = 0.001, 30.0
    loop.readable = {10}
    loop.run_until(loop.now_s + 1)
    assert join.counters.longest_step_s == pytest.approx(0.03)


def test_close_leaves_nothing_in_the_loop(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    engine.work_s = 1
    engine.deadline_s = loop.now_s + 1
    loop.readable = {10}
    loop.round()
    assert loop.appointments
    join.close()
    join.close()
    assert loop.appointments == []
    assert not loop.watched(10)
    assert engine.on_wake is None
    assert engine.on_closing is None


def test_engine_that_closes_takes_the_join_along(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    assert engine.on_closing is not None
    engine.on_closing()
    assert join.closed
    assert not loop.watched(10)


def test_closed_engine_is_noticed_at_the_next_step(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    engine.closed = True
    loop.readable = {10}
    loop.round()
    assert join.closed


def test_what_a_step_raises_passes_and_the_next_step_is_appointed(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(budget_s: float) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(engine, "step", fail)
        loop.readable = {10}
        with pytest.raises(KeyboardInterrupt):
            loop.round()
    loop.readable.clear()
    loop.run_until(loop.now_s + 1)
    assert engine.budgets


# Frames


def frames(loop: VirtualLoop, paint_s: float, count: int) -> Iterator[float]:
    """Paints `count` frames at 60 Hz in the loop; gives how late each was."""
    for _ in range(count):
        due_s = loop.now_s + FRAME_S
        late: list[float] = []

        def paint(due_s: float = due_s, late: list[float] = late) -> None:
            late.append(loop.now_s - due_s)
            loop.now_s += paint_s

        loop.call_at(due_s, paint)
        while not late:
            if not loop.round():
                loop.now_s = max(loop.now_s, loop.next_s)
        yield late[0]


def test_user_interface_keeps_its_frames_at_full_load(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    engine.work_s = math.inf
    loop.readable = {10}
    lateness = list(frames(loop, paint_s=0.008, count=300))
    # Not later than one step, which is what a loop of one thread can promise.
    assert max(lateness) <= BUDGET_S_MAX + 1e-9
    assert join.counters.frames > 100


def test_steps_that_overrun_are_given_less(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    engine.work_s = math.inf
    engine.step_cost = 8.0  # callbacks that take eight times what they were allowed
    loop.readable = {10}
    lateness = list(frames(loop, paint_s=0.004, count=300))
    assert join.counters.delayed_frames > 0
    assert max(lateness[20:]) < FRAME_S / 2
    assert engine.budgets[-1] < BUDGET_S


def test_no_frame_is_measured_while_there_is_little_work(
    loop: VirtualLoop, engine: FakeEngine, join: EngineJoin
) -> None:
    for _ in range(50):
        engine.work_s = BUDGET_S / 2
        loop.readable = {10}
        loop.run_until(loop.now_s + 0.01)
    assert join.counters.frames == 0


@given(st.lists(st.floats(0, 1, allow_nan=False)))
def test_budget_stays_within_its_bounds(lateness: list[float]) -> None:
    budget = FrameBudget()
    for late_s in lateness:
        budget.on_frame(late_s)
        assert BUDGET_S_MIN <= budget.budget_s <= BUDGET_S_MAX


def test_budget_shrinks_at_once_and_grows_slowly() -> None:
    budget = FrameBudget()
    budget.on_frame(0.02)
    assert budget.budget_s == pytest.approx(BUDGET_S / 2)
    for _ in range(10):
        budget.on_frame(0.0)
    assert budget.budget_s < BUDGET_S
    for _ in range(10):
        budget.on_frame(0.0)
    assert budget.budget_s > BUDGET_S
    assert budget.delayed_frames == 1


# Plain asyncio


def test_asyncio_watcher_reads_and_keeps_appointments() -> None:
    async def story() -> list[str]:
        happened: list[str] = []
        watcher = AsyncioWatcher()
        first, second = socket.socketpair()
        with first, second:
            first.setblocking(False)

            def on_readable() -> None:
                happened.append(first.recv(10).decode())

            reader = watcher.watch_readable(first.fileno(), on_readable)
            watcher.call_at(time.monotonic() - 1, lambda: happened.append("past"))
            watcher.call_at(time.monotonic() + 0.02, lambda: happened.append("later"))
            watcher.call_at(time.monotonic() + 0.01, lambda: happened.append("never")).close()
            assert happened == [], "never inside the call"
            second.send(b"read")
            await asyncio.sleep(0.05)
            reader.close()
            second.send(b"unread")
            await asyncio.sleep(0.01)
        return happened

    assert sorted(asyncio.run(story())) == ["later", "past", "read"]
