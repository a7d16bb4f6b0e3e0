"""The steps that lead from one list to another, as Qt's models must tell them: remove, arrange,
insert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Steps:
    """`removed` are runs (start, count) from the end to the start; `arranged` is the order of those
    that stay, or None if it is as before; `inserted` are runs (start, items) from the start."""

    removed: tuple[tuple[int, int], ...]
    arranged: tuple[str, ...] | None
    inserted: tuple[tuple[int, tuple[str, ...]], ...]


def steps_between(old: Sequence[str], new: Sequence[str]) -> Steps:
    """Items are unique in both lists."""
    wanted, had = set(new), set(old)
    removed: list[tuple[int, int]] = []
    for at in range(len(old) - 1, -1, -1):
        if old[at] not in wanted:
            if removed and removed[-1][0] == at + 1:
                removed[-1] = (at, removed[-1][1] + 1)
            else:
                removed.append((at, 1))
    staying = [item for item in old if item in wanted]
    arranged = [item for item in new if item in had]
    inserted: list[tuple[int, list[str]]] = []
    for at, item in enumerate(new):
        if item not in had:
            if inserted and inserted[-1][0] + len(inserted[-1][1]) == at:
                inserted[-1][1].append(item)
            else:
                inserted.append((at, [item]))
    return Steps(
        tuple(removed),
        None if arranged == staying else tuple(arranged),
        tuple((at, tuple(items)) for at, items in inserted),
    )
