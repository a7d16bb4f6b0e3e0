"""Work beside the window: in order, in another thread, told in this one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from app.background import Background


@pytest.fixture
def background(qapp: Any) -> Iterator[Background]:
    background = Background()
    yield background
    background.close()


def test_it_is_done_in_order_elsewhere_and_told_here(background: Background, qtbot: Any) -> None:
    worked: list[tuple[int, int]] = []
    told: list[tuple[int, int, Exception | None]] = []
    me = threading.get_ident()
    for number in range(20):
        background(
            lambda number=number: worked.append((number, threading.get_ident())),
            lambda problem, number=number: told.append((number, threading.get_ident(), problem)),
        )
    qtbot.waitUntil(lambda: len(told) == 20)
    assert [number for number, _ in worked] == list(range(20))
    assert {thread for _, thread in worked}.isdisjoint({me})
    assert told == [(number, me, None) for number in range(20)]


def test_what_goes_wrong_is_told(background: Background, qtbot: Any) -> None:
    told: list[Exception | None] = []

    def fail() -> None:
        raise ValueError("no")

    background(fail, told.append)
    qtbot.waitUntil(lambda: bool(told))
    assert isinstance(told[0], ValueError)


def test_the_end_waits_for_the_work_and_tells_nobody(qapp: Any) -> None:
    background = Background()
    done = threading.Event()
    told: list[Exception | None] = []
    background(done.set, told.append)
    background.close()
    assert done.is_set()
    qapp.processEvents()
    assert told == []
