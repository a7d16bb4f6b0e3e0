"""What is under the pointer when a button goes down, and how the pointer should look there."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt

from liveobj.objects.desktop_items import Item
from widgets.desktop.arranging import Edge
from widgets.desktop.frame_parts import Part, edges_at, part_at
from widgets.desktop.gestures import Pointer
from widgets.desktop.stage import Stage

_CURSORS = {
    frozenset({Edge.LEFT}): Qt.CursorShape.SizeHorCursor,
    frozenset({Edge.RIGHT}): Qt.CursorShape.SizeHorCursor,
    frozenset({Edge.TOP}): Qt.CursorShape.SizeVerCursor,
    frozenset({Edge.BOTTOM}): Qt.CursorShape.SizeVerCursor,
    frozenset({Edge.LEFT, Edge.TOP}): Qt.CursorShape.SizeFDiagCursor,
    frozenset({Edge.RIGHT, Edge.BOTTOM}): Qt.CursorShape.SizeFDiagCursor,
    frozenset({Edge.RIGHT, Edge.TOP}): Qt.CursorShape.SizeBDiagCursor,
    frozenset({Edge.LEFT, Edge.BOTTOM}): Qt.CursorShape.SizeBDiagCursor,
}


@dataclass(frozen=True, slots=True)
class Press:
    """Where the button went down and on what; `alone` if that was the one thing chosen before,
    `among` if it was chosen with others."""

    pointer: Pointer
    item: Item | None = None
    part: Part | None = None
    alone: bool = False
    among: bool = False
    edges: frozenset[Edge] = frozenset()


def press_at(stage: Stage, pointer: Pointer) -> Press:
    """What a press there would be on."""
    item, edges = _edges_under(stage, pointer)
    if item is not None and edges:
        return Press(pointer, item, edges=edges)
    item = stage.item_at(pointer.x, pointer.y)
    if item is None:
        return Press(pointer)
    frame = stage.frame_of(item.identity) or item.frame
    part = part_at(item, frame, pointer.x, pointer.y)
    alone = stage.selection == {item.identity}
    among = item.identity in stage.selection and not alone
    return Press(pointer, item, part, alone, among)


def cursor_at(stage: Stage, pointer: Pointer) -> Qt.CursorShape:
    """Tells which edge one would pull."""
    return _CURSORS.get(_edges_under(stage, pointer)[1], Qt.CursorShape.ArrowCursor)


def _edges_under(stage: Stage, pointer: Pointer) -> tuple[Item | None, frozenset[Edge]]:
    """The edges of the one chosen item that can be pulled there."""
    chosen = stage.chosen
    if len(chosen) != 1 or not stage.editable or stage.inside is not None:
        return None, frozenset()
    frame = stage.frame_of(chosen[0].identity)
    if frame is None:
        return None, frozenset()
    return chosen[0], edges_at(frame, pointer.x, pointer.y, stage.camera.zoom)
