"""The loop keeps asyncio's promises on Qt: order, punctuality, cancelled timers gone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEventLoop as NestedLoop
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.event_loop import EventLoop


@pytest.fixture
def loop(qapp: QApplication) -> Iterator[EventLoop]:
    loop = EventLoop(qapp)
    yield loop
    loop.close()


def test_callbacks_run_in_the_order_of_call_soon(loop: EventLoop) -> None:
    seen: list[int] = []

    async def main() -> None:
        for number in range(100):
            loop.call_soon(seen.append, number)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    loop.run_until_complete(main())
    assert seen == list(range(100))


def test_timers_run_in_the_order_of_their_time_and_never_early(loop: EventLoop) -> None:
    lateness_s: list[float] = []

    async def one(delay_s: float) -> None:
        wanted_s = loop.time() + delay_s
        await asyncio.sleep(delay_s)
        lateness_s.append(loop.time() - wanted_s)

    async def main() -> None:
        await asyncio.gather(*(one(delay_ms / 1000) for delay_ms in (1, 3, 7, 20, 41, 100)))

    loop.run_until_complete(main())
    assert len(lateness_s) == 6
    assert min(lateness_s) >= 0


def test_cancelled_timers_are_purged(loop: EventLoop) -> None:
    async def main() -> None:
        for _ in range(2000):
            await asyncio.wait_for(asyncio.sleep(0), 30)

    loop.run_until_complete(main())
    assert loop.timers_pending < 200


def test_a_cancelled_timer_does_not_run(loop: EventLoop) -> None:
    seen: list[str] = []

    async def main() -> None:
        loop.call_later(0.005, seen.append, "cancelled").cancel()
        loop.call_later(0.01, seen.append, "kept")
        await asyncio.sleep(0.02)

    loop.run_until_complete(main())
    assert seen == ["kept"]


def test_a_nested_qt_loop_inside_a_callback_lets_the_others_go_on(loop: EventLoop) -> None:
    seen: list[str] = []

    def nest() -> None:
        nested = NestedLoop()
        QTimer.singleShot(30, nested.quit)
        nested.exec()
        seen.append("nested loop left")

    async def main() -> None:
        loop.call_soon(nest)
        loop.call_soon(seen.append, "soon")
        loop.call_later(0.005, seen.append, "later")
        await asyncio.sleep(0.1)

    loop.run_until_complete(main())
    assert seen == ["soon", "later", "nested loop left"]


def test_sockets_work(loop: EventLoop) -> None:
    left, right = socket.socketpair()
    with left, right:
        left.setblocking(False)
        right.setblocking(False)

        async def main() -> bytes:
            await loop.sock_sendall(left, b"hello")
            return bytes(await loop.sock_recv(right, 16))

        assert loop.run_until_complete(main()) == b"hello"


def test_a_coroutine_function_is_refused(loop: EventLoop) -> None:
    async def coroutine() -> None: ...

    with pytest.raises(TypeError, match="call_soon"):
        loop.call_soon(coroutine)


def test_an_error_in_a_callback_reaches_the_handler_and_the_loop_goes_on(loop: EventLoop) -> None:
    errors: list[BaseException] = []
    loop.set_exception_handler(lambda _loop, context: errors.append(context["exception"]))

    async def main() -> str:
        loop.call_soon(lambda: 1 / 0)
        await asyncio.sleep(0.001)
        return "alive"

    assert loop.run_until_complete(main()) == "alive"
    assert [type(error) for error in errors] == [ZeroDivisionError]
