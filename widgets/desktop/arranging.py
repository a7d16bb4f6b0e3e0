"""Puts frames in line, spreads them evenly, and finds what they snap to. Knows no widget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from liveobj.objects.desktop_items import SIDE_MIN, Frame, around

Frames = Mapping[str, Frame]


class Edge(StrEnum):
    """By what things are put in line."""

    LEFT = "left"
    CENTRE = "centre"
    RIGHT = "right"
    TOP = "top"
    MIDDLE = "middle"
    BOTTOM = "bottom"


class Axis(StrEnum):
    """In which direction things are spread."""

    ACROSS = "across"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class SnapLine:
    """A line that shows what something has snapped to: at `at`, from `start` to `end`."""

    upright: bool
    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Snap:
    """How far to move so that something is in line, and the lines that say so."""

    dx: float = 0.0
    dy: float = 0.0
    lines: tuple[SnapLine, ...] = ()


def aligned(units: Sequence[Frames], edge: Edge) -> dict[str, Frame]:
    """The frames put in line with the outermost of them. Each unit, a single item or a group,
    moves as a whole."""
    outlines = [around(unit.values()) for unit in units]
    whole = around(outline for outline in outlines if outline is not None)
    result: dict[str, Frame] = {}
    for unit, outline in zip(units, outlines, strict=True):
        if outline is None or whole is None:
            continue
        dx, dy = _to_edge(outline, whole, edge)
        result.update({identity: frame.moved(dx, dy) for identity, frame in unit.items()})
    return result


def _to_edge(outline: Frame, whole: Frame, edge: Edge) -> tuple[float, float]:
    match edge:
        case Edge.LEFT:
            return whole.x - outline.x, 0.0
        case Edge.CENTRE:
            return whole.x + whole.width / 2 - outline.x - outline.width / 2, 0.0
        case Edge.RIGHT:
            return whole.right - outline.right, 0.0
        case Edge.TOP:
            return 0.0, whole.y - outline.y
        case Edge.MIDDLE:
            return 0.0, whole.y + whole.height / 2 - outline.y - outline.height / 2
        case Edge.BOTTOM:
            return 0.0, whole.bottom - outline.bottom


def distributed(units: Sequence[Frames], axis: Axis) -> dict[str, Frame]:
    """The frames with the same space between all; the first and the last stay where they are."""
    outlined = [(unit, outline) for unit in units if (outline := around(unit.values()))]
    across = axis is Axis.ACROSS
    outlined.sort(key=lambda pair: pair[1].x if across else pair[1].y)
    if len(outlined) < 3:
        return {}
    first, last = outlined[0][1], outlined[-1][1]
    span = last.right - first.x if across else last.bottom - first.y
    filled = sum(outline.width if across else outline.height for _, outline in outlined)
    gap = (span - filled) / (len(outlined) - 1)
    at = first.x if across else first.y
    result: dict[str, Frame] = {}
    for unit, outline in outlined:
        shift = at - (outline.x if across else outline.y)
        dx, dy = (shift, 0.0) if across else (0.0, shift)
        result.update({identity: frame.moved(dx, dy) for identity, frame in unit.items()})
        at += (outline.width if across else outline.height) + gap
    return result


def snapped(moving: Frame, others: Iterable[Frame], reach: float) -> Snap:
    """The nearest places, not farther than `reach`, where edges or middles are in line with those
    of others; one for each direction."""
    candidates = list(others)
    dx, upright = _nearest(moving, candidates, reach, "x")
    dy, level = _nearest(moving, candidates, reach, "y")
    moved = moving.moved(dx or 0.0, dy or 0.0)
    lines: list[SnapLine] = []
    if upright is not None:
        at, other = upright
        ends = (moved.y, moved.bottom, other.y, other.bottom)
        lines.append(SnapLine(True, at, min(ends), max(ends)))
    if level is not None:
        at, other = level
        ends = (moved.x, moved.right, other.x, other.right)
        lines.append(SnapLine(False, at, min(ends), max(ends)))
    return Snap(dx or 0.0, dy or 0.0, tuple(lines))


def _nearest(
    moving: Frame, others: Sequence[Frame], reach: float, axis: Literal["x", "y"]
) -> tuple[float | None, tuple[float, Frame] | None]:
    best: float | None = None
    found: tuple[float, Frame] | None = None
    for other in others:
        for mine in _stops(moving, axis):
            for theirs in _stops(other, axis):
                distance = theirs - mine
                if abs(distance) <= reach and (best is None or abs(distance) < abs(best)):
                    best, found = distance, (theirs, other)
    return best, found


def _stops(frame: Frame, axis: Literal["x", "y"]) -> tuple[float, float, float]:
    start, side = (frame.x, frame.width) if axis == "x" else (frame.y, frame.height)
    return start, start + side / 2, start + side


def resized(frame: Frame, dx: float, dy: float, edges: frozenset[Edge]) -> Frame:
    """The frame after some of its edges were pulled; it never turns inside out."""
    left, top, right, bottom = frame.x, frame.y, frame.right, frame.bottom
    if Edge.LEFT in edges:
        left = min(left + dx, right - SIDE_MIN)
    if Edge.RIGHT in edges:
        right = max(right + dx, left + SIDE_MIN)
    if Edge.TOP in edges:
        top = min(top + dy, bottom - SIDE_MIN)
    if Edge.BOTTOM in edges:
        bottom = max(bottom + dy, top + SIDE_MIN)
    return Frame(left, top, right - left, bottom - top)
