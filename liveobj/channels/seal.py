"""Owns the question who may change an object: how updates are signed and checked on their way."""

from __future__ import annotations

from typing import Protocol


class Seal(Protocol):
    """Signs the updates that this member sends and checks those of others."""

    @property
    def can_sign(self) -> bool:
        """False for a viewer: its updates would be refused by everybody."""

    def sign(self, data: bytes) -> bytes: ...

    def verify(self, data: bytes, signature: bytes) -> bool: ...


class NoSeal:
    """For objects whose edits are not signed: everybody in the group may edit."""

    can_sign = True

    def sign(self, data: bytes) -> bytes:
        return b""

    def verify(self, data: bytes, signature: bytes) -> bool:
        return True
