"""Who is in which group, and what goes through each: what every plan is made from.

Sets of nodes are Python's whole numbers, a bit for each node: their unions and intersections are
single operations of the processor over thousands of nodes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Interest:
    """`groups[i]` is a group's id, `members[i]` its nodes as bits, `traffic[i]` its bytes."""

    node_count: int
    groups: list[str]
    members: list[int]
    traffic: list[float]

    @property
    def wanted(self) -> float:
        """Bytes that all members together want to receive."""
        return sum(
            traffic * members.bit_count()
            for traffic, members in zip(self.traffic, self.members, strict=True)
        )


def as_bits(nodes: NDArray[np.int32] | Sequence[int], node_count: int) -> int:
    """A set of node numbers as bits."""
    flags = np.zeros(node_count, dtype=np.uint8)
    flags[np.asarray(nodes, dtype=np.int64)] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def as_numbers(bits: int, node_count: int) -> NDArray[np.int64]:
    """The inverse of `as_bits`, ascending."""
    data = np.frombuffer(bits.to_bytes((node_count + 7) // 8, "little"), dtype=np.uint8)
    numbers: NDArray[np.int64] = np.flatnonzero(np.unpackbits(data, bitorder="little"))
    return numbers
