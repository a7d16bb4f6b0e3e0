"""An object as lists show it that are not it: recent ones, pinned ones, what a search has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListedObject:
    """`key` is what the program opens it by; `where`, for a tool tip, the file that it came by,
    which may be gone; `kind` the word of its kind."""

    key: str
    title: str
    where: str
    kind: str
