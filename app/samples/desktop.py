"""A desktop on which two people lay out notes, a chat, an image and a link."""

from __future__ import annotations

from app.samples import chat, image
from app.samples.note import PLAN
from app.samples.sample import Sample, Shown, make_filled
from liveobj.objects.desktop_items import Form, Frame
from widgets.desktop.camera import Camera
from widgets.desktop.desktop_view import DesktopView
from widgets.desktop.makings import note_of
from widgets.object_view import ObjectView

TITLE = "Friday"
NOTES = (
    (PLAN, Frame(30, 30, 270, 270)),
    ("Who has the big table?\n\nMia asks the neighbours.", Frame(30, 330, 270, 190)),
    ("Games: boules, cards, and the kite if there is wind", Frame(330, 330, 270, 190)),
)


def _desktop(view: ObjectView) -> DesktopView:
    assert isinstance(view, DesktopView), "a desktop is shown by one"
    return view


def lay_out(view: ObjectView) -> None:
    """Puts a few things on a desktop."""
    first = _desktop(view)
    desktop, around = first.stage.desktop, first.around
    for text, frame in NOTES:
        desktop.place(note_of(around, text), frame)
    desktop.place(make_filled(around, "chat", "Talk", chat.fill), Frame(330, 30, 270, 270))
    desktop.place(
        note_of(around, "The lake, the castle, bicycles"), Frame(630, 30, 230, 64), Form.LINK
    )
    terrace = make_filled(around, "image", "Where we sit", image.fill)
    desktop.place(terrace, Frame(630, 124, 230, 176))
    first.stage.look(Camera())


def _write(view: ObjectView) -> None:
    """The second person writes in a note."""
    second = _desktop(view)
    second.stage.look(Camera())
    items = second.stage.desktop.in_order()
    second.canvas.inside.enter(second.stage.desktop.items[items[2].identity])
    second.canvas.pointed.emit(560.0, 250.0)
    second.company.flush()


def _choose(view: ObjectView) -> None:
    """The first has chosen another one."""
    first = _desktop(view)
    first.stage.select([first.stage.desktop.in_order()[0].identity])
    first.company.flush()


def _is_whole(shown: Shown) -> bool:
    return len(shown["items"]) == 6


SAMPLE = Sample(TITLE, (lay_out, _write, _choose), _is_whole)
