"""Shared files: two people put small files in, and one gives a newer version of another's."""

from __future__ import annotations

from app.samples.drawing import terrace_png
from app.samples.sample import Sample, Shown
from liveobj.objects.files import SharedFiles
from widgets.object_view import ObjectView

TITLE = "Lunch papers"
_SHOPPING = "Bread\nCheese\nLemons\nPasta\nTomatoes\nPaper cups\n"
_GUESTS = "name,comes,brings\nAda,yes,lemon cake\nJun,yes,pasta salad\nMia,yes,the big table\n"


def _put(view: ObjectView, name: str, data: bytes) -> None:
    files = view.opening.shared
    assert isinstance(files, SharedFiles), "shared files hold them"
    files.put(name, files.exchange.store.add_bytes(data), len(data))


def _begin(view: ObjectView) -> None:
    _put(view, "Shopping list.txt", _SHOPPING.encode())
    _put(view, "The terrace.png", terrace_png())


def _add(view: ObjectView) -> None:
    _put(view, "Guests.csv", _GUESTS.encode())
    _put(view, "Shopping list.txt", f"{_SHOPPING}Napkins\n".encode())


def _is_whole(shown: Shown) -> bool:
    return [each["versions"] for each in shown["files"]] == [1, 2, 1]


SAMPLE = Sample(TITLE, (_begin, _add), _is_whole)
