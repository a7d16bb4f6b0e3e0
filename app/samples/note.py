"""A note that two people write: the plan of a lunch."""

from __future__ import annotations

from app.samples.sample import Sample, Shown
from liveobj.objects.text_note import TextNote
from widgets.note_view import NoteView
from widgets.object_view import ObjectView

TITLE = "Team lunch"
PLAN = """Friday, noon, on the terrace.

Bring something to share:
- Ada: lemon cake
- Jun: pasta salad"""
_ANSWER = " and lemonade\n\nWho has the big table?"
_LAST = "\nMia asks the neighbours."


def fill(note: TextNote) -> None:
    """The plan, as the first person writes it."""
    with note.document.transaction("write"):
        note.text.insert(0, PLAN)


def _begin(view: ObjectView) -> None:
    assert isinstance(view, NoteView), "a note is shown by one"
    note = view.opening.shared
    assert isinstance(note, TextNote), "a note holds one"
    fill(note)


def _write(view: ObjectView, words: str) -> None:
    assert isinstance(view, NoteView), "a note is shown by one"
    view.show_newest()
    end = view.editor.text.length
    view.editor.select(end, end)
    view.editor.insertPlainText(words)


def _is_whole(shown: Shown) -> bool:
    return str(shown["text"]) == PLAN + _ANSWER + _LAST


SAMPLE = Sample(
    TITLE,
    (_begin, lambda view: _write(view, _ANSWER), lambda view: _write(view, _LAST)),
    _is_whole,
)
