"""A queue between callbacks and a coroutine is bounded, ordered, and never loses silently."""

from __future__ import annotations

import asyncio

import pytest

from transport.queues import BoundedQueue


async def read_all(queue: BoundedQueue[int]) -> list[int]:
    return [value async for value in queue]


def test_values_are_read_in_order_then_the_end() -> None:
    queue = BoundedQueue[int](3)
    for value in (1, 2, 3):
        queue.put(value)
    queue.finish()
    queue.put(4)
    assert asyncio.run(read_all(queue)) == [1, 2, 3]


def test_reader_waits_for_what_is_put_in_later() -> None:
    async def story() -> list[int]:
        queue = BoundedQueue[int](3)
        reading = asyncio.create_task(read_all(queue))
        for value in (1, 2):
            await asyncio.sleep(0)
            queue.put(value)
        await asyncio.sleep(0)
        queue.finish()
        return await reading

    assert asyncio.run(story()) == [1, 2]


def test_full_queue_of_states_keeps_the_newest() -> None:
    queue = BoundedQueue[int](2)
    for value in range(5):
        queue.put(value)
    queue.finish()
    assert asyncio.run(read_all(queue)) == [3, 4]


def test_full_queue_of_messages_tells_the_reader_after_what_it_holds() -> None:
    async def story() -> list[int]:
        queue = BoundedQueue[int](2, overrun=lambda: OverflowError("behind"))
        for value in range(5):
            queue.put(value)
        read = [await anext(queue), await anext(queue)]
        with pytest.raises(OverflowError, match="behind"):
            await anext(queue)
        return read

    assert asyncio.run(story()) == [0, 1]


def test_finish_with_an_error_reaches_a_waiting_reader() -> None:
    async def story() -> None:
        queue = BoundedQueue[int](2)
        reading = asyncio.create_task(read_all(queue))
        await asyncio.sleep(0)
        queue.finish(ConnectionError("gone"))
        with pytest.raises(ConnectionError, match="gone"):
            await reading

    asyncio.run(story())


def test_closing_detaches_once() -> None:
    closed: list[BoundedQueue[int]] = []
    queue = BoundedQueue[int](2, on_close=closed.append)

    async def story() -> None:
        async with queue:
            queue.put(1)

    asyncio.run(story())
    queue.close()
    assert closed == [queue]
    assert len(queue) == 0


def test_second_reader_of_one_queue_is_refused() -> None:
    async def story() -> None:
        queue = BoundedQueue[int](2)
        first = asyncio.create_task(read_all(queue))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError):
            await anext(queue)
        queue.finish()
        await first

    asyncio.run(story())


def test_reader_that_is_cancelled_loses_nothing() -> None:
    async def story() -> int:
        queue = BoundedQueue[int](2)
        reading = asyncio.create_task(read_all(queue))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        queue.put(7)
        return await anext(queue)

    assert asyncio.run(story()) == 7
