"""The parts of an item's frame and where they are: strip, icon, menu, content, edges to pull."""

from __future__ import annotations

from enum import Enum

from liveobj.objects.desktop_items import Form, Frame, Item
from widgets.desktop.arranging import Edge

STRIP = 32.0
_SIDE = 1.0
_FOOT = 8.0
_BUTTON = 28.0
# How near to an edge one must point to pull it, in pixels of the window.
GRIP_PX = 6.0


class Part(Enum):
    """What is under the pointer."""

    STRIP = "strip"
    ICON = "icon"
    MENU = "menu"
    CONTENT = "content"


def content_of(frame: Frame) -> Frame:
    """Where the object's own view is; its foot leaves room for the round corners."""
    height = max(frame.height - STRIP - _FOOT, 1.0)
    return Frame(frame.x + _SIDE, frame.y + STRIP, frame.width - 2 * _SIDE, height)


def menu_of(frame: Frame) -> Frame:
    return Frame(frame.right - _BUTTON - 2, frame.y + (STRIP - _BUTTON) / 2, _BUTTON, _BUTTON)


def icon_of(frame: Frame) -> Frame:
    return Frame(frame.x + 4, frame.y + (STRIP - _BUTTON) / 2, _BUTTON, _BUTTON)


def part_at(item: Item, frame: Frame, x: float, y: float) -> Part:
    """The part of an item at a place of the plane."""
    if item.form is Form.LINK:
        return Part.ICON if x < frame.x + min(48.0, frame.width / 3) else Part.CONTENT
    if menu_of(frame).holds(x, y):
        return Part.MENU
    if icon_of(frame).holds(x, y):
        return Part.ICON
    return Part.STRIP if y < frame.y + STRIP else Part.CONTENT


def edges_at(frame: Frame, x: float, y: float, zoom: float) -> frozenset[Edge]:
    """The edges that one would pull there; none in the middle. Corners pull two."""
    grip = GRIP_PX / zoom
    if not frame.grown(grip).holds(x, y):
        return frozenset()
    edges: set[Edge] = set()
    if abs(x - frame.x) <= grip:
        edges.add(Edge.LEFT)
    elif abs(x - frame.right) <= grip:
        edges.add(Edge.RIGHT)
    if abs(y - frame.y) <= grip:
        edges.add(Edge.TOP)
    elif abs(y - frame.bottom) <= grip:
        edges.add(Edge.BOTTOM)
    return frozenset(edges)
