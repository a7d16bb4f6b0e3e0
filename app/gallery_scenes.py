"""What lies in the objects of the gallery when pictures of them are taken: two people at work."""

from __future__ import annotations

from liveobj.objects.chat import Chat
from liveobj.objects.desktop_items import Form, Frame
from liveobj.references import Reference
from widgets.desktop.camera import Camera
from widgets.desktop.desktop_view import DesktopView
from widgets.desktop.makings import note_of
from widgets.object_view import ObjectView

_LUNCH = """Friday, noon, on the terrace.

Bring something to share:
- Ada: lemon cake
- Jun: pasta salad"""
NOTES = (
    (_LUNCH, Frame(30, 30, 270, 270)),
    ("Who has the big table?\n\nMia asks the neighbours.", Frame(30, 330, 270, 190)),
    ("Games: boules, cards, and the kite if there is wind", Frame(330, 330, 270, 190)),
)
TALK = ("Shall I bring the kite?", "It may rain.", "Then I take the cards as well.")


def lay_out(first: DesktopView) -> None:
    """Puts a few things on a desktop."""
    desktop, around = first.stage.desktop, first.around
    for text, frame in NOTES:
        desktop.place(note_of(around, text), frame)
    chat = around.make(around.kinds["chat"], "Talk")
    _talk(first, chat)
    desktop.place(chat, Frame(330, 30, 270, 270))
    desktop.place(
        note_of(around, "The lake, the castle, bicycles"), Frame(630, 30, 230, 64), Form.LINK
    )
    plan = around.make(around.kinds["desktop"], "The terrace")
    desktop.place(plan, Frame(630, 124, 230, 176))
    first.stage.look(Camera())


def work_together(first: ObjectView, second: ObjectView) -> None:
    """The second person writes in a note; the first has chosen another one."""
    if not isinstance(first, DesktopView) or not isinstance(second, DesktopView):
        return
    second.stage.look(Camera())
    items = first.stage.desktop.in_order()
    if len(items) >= len(NOTES):
        first.stage.select([items[0].identity])
        second.canvas.inside.enter(second.stage.desktop.items[items[2].identity])
        second.canvas.pointed.emit(560.0, 250.0)
    for view in (first, second):
        view.company.flush()


def _talk(view: DesktopView, reference: Reference) -> None:
    opening = view.around.open(reference)
    try:
        chat = opening.shared
        assert isinstance(chat, Chat), "it was made as a chat"
        for words in TALK:
            chat.say(words)
        chat.flush()
    finally:
        opening.close()
