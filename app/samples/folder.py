"""A folder with all that belongs to one occasion, put in by two people."""

from __future__ import annotations

from app.samples import chat, document, image, note, table
from app.samples.sample import Sample, Shown, make_filled
from liveobj.objects.shared_folder import Folder
from widgets.object_view import ObjectView

TITLE = "Lunch on Friday"


def _folder(view: ObjectView) -> Folder:
    folder = view.opening.shared
    assert isinstance(folder, Folder), "a folder holds one"
    return folder


def _begin(view: ObjectView) -> None:
    folder, around = _folder(view), view.around
    for word, title, fill in (
        ("note", "What to bring", note.fill),
        ("document", "Plan of the day", document.fill),
        ("table", "Costs", table.fill),
        ("chat", "Questions", chat.fill),
        ("image", "By the lake", image.fill),
    ):
        folder.put(title, make_filled(around, word, title, fill))


def _add(view: ObjectView) -> None:
    folder, around = _folder(view), view.around
    folder.put("Other years", around.make(around.kinds["folder"], "Other years"))


def _is_whole(shown: Shown) -> bool:
    return len({each["kind"] for each in shown["entries"]}) == 6


# Small pictures of what is in a folder are drawn one after the other.
SAMPLE = Sample(TITLE, (_begin, _add), _is_whole, still_s=4.0)
