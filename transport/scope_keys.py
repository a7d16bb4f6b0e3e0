"""Owns which keys of its scope an engine has, so that another core can have them, too.

The scope's key changes in three steps, each done by all before the next (qsm.h): it is heard beside
the one in use, it is used, and the old one is not heard any more.
"""

from __future__ import annotations

from typing import Protocol

from transport.errors import BadArgument
from transport.scopes import SCOPE_KEY_BYTES


class KeyedCore(Protocol):
    """The engine's side."""

    def add_scope_key(self, key: bytes) -> None: ...

    def use_scope_key(self, key: bytes) -> None: ...

    def drop_scope_key(self, key: bytes) -> None: ...


class ScopeKeys:
    """Those that came after the one with which the engine was opened. `used` is None while that one
    is in use."""

    def __init__(self) -> None:
        self.used: bytes | None = None
        self._heard: list[bytes] = []

    def add(self, core: KeyedCore, key: bytes) -> None:
        core.add_scope_key(key)
        if key not in self._heard:
            self._heard.append(key)

    def use(self, core: KeyedCore, key: bytes) -> None:
        core.use_scope_key(key)
        self.used = key

    def drop(self, core: KeyedCore, key: bytes) -> None:
        core.drop_scope_key(key)
        if key in self._heard:
            self._heard.remove(key)

    def give(self, core: KeyedCore) -> None:
        """To a core that was opened with the one in use."""
        for key in self._heard:
            if key != self.used:
                core.add_scope_key(key)


def checked_key(key: bytes) -> bytes:
    if len(key) != SCOPE_KEY_BYTES:
        raise BadArgument(f"A scope's key has {SCOPE_KEY_BYTES} bytes.")
    return bytes(key)
