"""Owns cutting a message into pieces that fit, and putting the pieces of each sender together.

The room in a packet differs from one pull to the next, so pieces are cut one by one, each as large
as the packet of that moment allows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from liveobj.channels.messages import MESSAGE_BYTES_MAX, BadMessage, Fragment, encode

# The type byte, a list of three, two integers of at most five bytes, a binary header of five.
FRAGMENT_OVERHEAD_BYTES = 1 + 1 + 5 + 5 + 5


class Cutter:
    """One outgoing message, taken piece by piece."""

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._offset = 0

    @property
    def finished(self) -> bool:
        return self._offset >= len(self._message)

    def next_piece(self, bytes_max: int) -> bytes | None:
        """The whole message if it fits, else a fragment; None if `bytes_max` has no room for
        any."""
        message, offset = self._message, self._offset
        if offset == 0 and len(message) <= bytes_max:
            self._offset = len(message)
            return message
        room = bytes_max - FRAGMENT_OVERHEAD_BYTES
        if room < 1:
            return None
        piece = message[offset : offset + room]
        self._offset += len(piece)
        return encode(Fragment(offset, len(message), piece))


@dataclass(slots=True)
class _Partial:
    total: int
    size: int = 0
    pieces: list[bytes] = field(default_factory=list)


class Assembler:
    """Pieces come in order from each sender, since the channel below is FIFO. A stream whose
    beginning was sent before this node joined is skipped; catching up brings what it held."""

    def __init__(self) -> None:
        self._partial: dict[int, _Partial] = {}
        self.pieces = 0  # that have fitted so far

    def add(self, sender: int, fragment: Fragment) -> bytes | None:
        """The whole message when its last piece has come, else None."""
        if fragment.total > MESSAGE_BYTES_MAX:
            raise BadMessage(f"a message of {fragment.total} bytes")
        if fragment.offset == 0:
            self._partial[sender] = _Partial(fragment.total)
        partial = self._partial.get(sender)
        if partial is None:
            return None
        size = partial.size + len(fragment.data)
        if (
            fragment.offset != partial.size
            or fragment.total != partial.total
            or size > partial.total
        ):
            del self._partial[sender]
            raise BadMessage(f"a piece at {fragment.offset} of {fragment.total} out of order")
        self.pieces += 1
        partial.size = size
        partial.pieces.append(fragment.data)
        if size < partial.total:
            return None
        del self._partial[sender]
        return b"".join(partial.pieces)

    def keep_only(self, senders: Collection[int]) -> None:
        for sender in list(self._partial):
            if sender not in senders:
                del self._partial[sender]
