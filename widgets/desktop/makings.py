"""New objects out of what is at hand: a copy of another one, a note of a text."""

from __future__ import annotations

from liveobj.objects.shared_document import TITLE_CHARACTERS_MAX
from liveobj.objects.text_note import TextNote
from liveobj.references import Reference
from liveobj.runtime import CannotDereference
from widgets.language import tr
from widgets.object_view import Surroundings

TEXT_CHARACTERS_MAX = 1_000_000
_TITLE_CHARACTERS = 40


def copy_of(around: Surroundings, reference: Reference) -> Reference:
    """A new object that holds what another one holds here now, and goes its own way from then on.
    Raises a Problem if it cannot be made."""
    kind = around.kinds.of(reference)
    if kind is None:
        raise CannotDereference(tr("Only what can be shown here can be copied."))
    source = around.open(reference)
    try:
        content = source.shared.document.export_snapshot()
        title = tr("{title} (copy)", title=source.title[: TITLE_CHARACTERS_MAX - 20])
    finally:
        source.close()
    made = around.make(kind, title)
    copy = around.open(made)
    try:
        copy.shared.document.import_update(content)
        copy.shared.rename(title)
        copy.shared.flush()
    finally:
        copy.close()
    return made


def note_of(around: Surroundings, text: str) -> Reference:
    """A new note with a text in it, named after its first words. Raises a Problem."""
    words = " ".join(text.split())
    title = words[:_TITLE_CHARACTERS].rstrip() + ("…" if len(words) > _TITLE_CHARACTERS else "")
    made = around.make(around.kinds["note"], title)
    opening = around.open(made)
    try:
        note = opening.shared
        assert isinstance(note, TextNote), "it was made as a note"
        note.text.insert(0, text[:TEXT_CHARACTERS_MAX])
        note.flush()
    finally:
        opening.close()
    return made
