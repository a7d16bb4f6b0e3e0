"""Owns the bounded queue between a group's callbacks and a coroutine that reads at its own pace.

It knows nothing of engines. A queue that overflows never loses silently: either the newest values
replace the oldest ones, which suits states, or the reader is told that it has lost its place.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedQueue(Generic[T]):
    """An asynchronous iterator over what is put in; ends, or raises, when it is finished.

    With `overrun` the reader gets that error once it has read what was there when the queue was
    full; without it the oldest unread value gives way to the newest.
    """

    def __init__(
        self,
        values_max: int,
        overrun: Callable[[], Exception] | None = None,
        on_close: Callable[[BoundedQueue[T]], None] | None = None,
    ) -> None:
        self._values: deque[T] = deque()
        self._values_max = values_max
        self._overrun = overrun
        self._on_close = on_close
        self._waiting: asyncio.Future[None] | None = None
        self._finished = False
        self._error: Exception | None = None

    def __len__(self) -> int:
        return len(self._values)

    def put(self, value: T) -> None:
        if self._finished:
            return
        if len(self._values) < self._values_max:
            self._values.append(value)
        elif self._overrun is None:
            self._values.popleft()
            self._values.append(value)
        else:
            self.finish(self._overrun())
        self._notify()

    def finish(self, error: Exception | None = None) -> None:
        """Nothing follows; what was put in before can still be read."""
        if not self._finished:
            self._finished = True
            self._error = error
            self._detach()
            self._notify()

    def close(self) -> None:
        """The reader wants no more."""
        self._values.clear()
        self.finish()

    def __aiter__(self) -> BoundedQueue[T]:
        return self

    async def __anext__(self) -> T:
        while not self._values:
            if self._finished:
                if self._error is not None:
                    raise self._error
                raise StopAsyncIteration
            if self._waiting is not None:
                raise RuntimeError("two readers wait on one queue: give each its own")
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        return self._values.popleft()

    async def __aenter__(self) -> BoundedQueue[T]:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _notify(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _detach(self) -> None:
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close(self)
