"""Owns which keys of a group are held: its own, the one of the present epoch, and those that others
still (or already) use.

The key of an epoch follows from the group's own key, which comes from the object's reference. So
whoever has the reference can open everything, and nobody has to be told: a member that changes
over a day early or late, because its clock is wrong, is understood all the same. Epochs are 1 to
255 and then begin again; 0 is the group's own key, by which members without a clock seal.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Protocol

KEY_BYTES = 32
EPOCHS = 255
# As many as the engine holds of one group.
KEYS_MAX = 4
OWN = 0


def epoch_key(own: bytes, epoch: int) -> bytes:
    """The key of a group in that epoch."""
    assert 0 <= epoch <= EPOCHS, "epochs are a byte"
    if epoch == OWN:
        return own
    return blake2b(bytes([epoch]), digest_size=KEY_BYTES, key=own, person=b"liveobj epoch").digest()


class KeyHolder(Protocol):
    """The engine's side of one group."""

    def add_key(self, epoch: int, key: bytes) -> None: ...

    def use_key(self, epoch: int) -> None: ...

    def drop_key(self, epoch: int) -> None: ...


class GroupKeys:
    """Keys of one group; `use` and `want` tell the engine what follows from them."""

    __slots__ = ("_held", "own", "used")

    def __init__(self, own: bytes) -> None:
        self.own = own
        # In the order in which they were wanted last; the one that is used never has to go.
        self._held = [OWN]
        self.used = OWN

    def use(self, holder: KeyHolder, epoch: int) -> None:
        """Seals with the key of that epoch from now on; others go on being opened."""
        if epoch != self.used:
            self._hold(holder, epoch, keep=self.used)
            holder.use_key(epoch)
            self.used = epoch

    def want(self, holder: KeyHolder, epoch: int) -> None:
        """A message of that epoch has come."""
        self._hold(holder, epoch, keep=self.used)

    def _hold(self, holder: KeyHolder, epoch: int, keep: int) -> None:
        if epoch in self._held:
            self._held.remove(epoch)
        else:
            if len(self._held) == KEYS_MAX:
                oldest = next(held for held in self._held if held not in {OWN, keep})
                holder.drop_key(oldest)
                self._held.remove(oldest)
            holder.add_key(epoch, epoch_key(self.own, epoch))
        self._held.append(epoch)
