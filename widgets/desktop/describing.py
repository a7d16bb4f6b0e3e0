"""A desktop in words and numbers: for scripts, tests, and those who cannot see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from liveobj.objects.desktop_items import Item

if TYPE_CHECKING:
    from widgets.desktop.desktop_view import DesktopView

_ITEMS_MAX = 200


def describe(view: DesktopView) -> dict[str, Any]:
    """What is on the desktop, lowest first (the first ones of many), what is chosen, who is
    there."""
    stage, canvas = view.stage, view.canvas
    inside = stage.desktop.items.get(stage.inside or "")
    return {
        "zoom": round(stage.camera.zoom, 4),
        "camera": [round(stage.camera.x, 1), round(stage.camera.y, 1)],
        "count": len(stage.desktop.items),
        "items": [_item(view, item) for item in stage.desktop.in_order()[:_ITEMS_MAX]],
        "selected": [canvas.live.name(item) for item in stage.chosen[:_ITEMS_MAX]],
        "inside": None if inside is None else canvas.live.name(inside),
        "following": view.company.followed,
        "drop": view.target.words,
        "pointers": {
            other.name: None if other.spot is None else other.spot.pointer
            for other in view.company.others
        },
    }


def _item(view: DesktopView, item: Item) -> dict[str, Any]:
    canvas = view.canvas
    corner = canvas.mapToGlobal(canvas.rect().topLeft())
    x, y = view.stage.camera.to_window(item.frame.x, item.frame.y)
    said: dict[str, Any] = {
        "name": canvas.live.name(item),
        "form": str(item.form),
        "frame": [item.frame.x, item.frame.y, item.frame.width, item.frame.height],
        # Where a mouse finds it.
        "on_screen": [round(corner.x() + x), round(corner.y() + y)],
        "groups": len(item.groups),
    }
    kind = canvas.contents.of(item).kind
    if kind is not None:
        said["kind"] = kind.word
    problem = canvas.live.problem(item)
    if problem:
        said["problem"] = problem
    shown = canvas.live.view_if_open(item.identity)
    if shown is not None:
        said["shows"] = shown.describe()
    return said
