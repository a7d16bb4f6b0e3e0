"""Owns the list of those who observe something, and the closable subscription each of them gets."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

Event = TypeVar("Event")


class Subscription:
    """What `observe` returns. Closing it ends the callbacks; closing it twice is harmless."""

    __slots__ = ("_close",)

    def __init__(self, close: Callable[[], None]) -> None:
        self._close: Callable[[], None] | None = close

    def close(self) -> None:
        close, self._close = self._close, None
        if close is not None:
            close()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Observers(Generic[Event]):
    """Callbacks in order of arrival. One that raises is logged and does not starve the others:
    an observer is somebody else's code, and the change it is told of has already happened."""

    __slots__ = ("_callbacks", "_next_key")

    def __init__(self) -> None:
        self._callbacks: dict[int, Callable[[Event], None]] = {}
        self._next_key = 0

    def __len__(self) -> int:
        return len(self._callbacks)

    def observe(self, callback: Callable[[Event], None]) -> Subscription:
        key = self._next_key
        self._next_key += 1
        self._callbacks[key] = callback
        return Subscription(lambda: self._forget(key))

    def _forget(self, key: int) -> None:
        self._callbacks.pop(key, None)

    def notify(self, event: Event) -> None:
        for key in list(self._callbacks):
            callback = self._callbacks.get(key)
            if callback is None:
                continue  # closed by an earlier callback of this very round
            try:
                callback(event)
            except Exception:
                log.exception("an observer failed on %r", event)
