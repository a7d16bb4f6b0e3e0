"""Owns the text note: a shared plain text, how one is made, described and opened."""

from __future__ import annotations

from collections.abc import Callable

from liveobj.channels import Caret
from liveobj.documents import Text
from liveobj.host import Host
from liveobj.objects.comments import Comments
from liveobj.objects.shared_document import (
    Description,
    SharedDocument,
    describe_shared,
    new_shared,
)
from liveobj.objects.writers import Writers
from liveobj.references import Parameterized, Reference

TEMPLATE_ID = "live-objects:text-note"
TEXT_NAME = "text"

NoteDescription = Description


def new_note(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of a note that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


def describe_note(reference: Reference) -> NoteDescription:
    """What a note's reference says; raises ReferenceProblem if it is not one."""
    return describe_shared(reference, TEMPLATE_ID, "text note")


class TextNote(SharedDocument):
    """A note that is open here. Made by `open_note`."""

    text: Text
    comments: Comments
    writers: Writers

    def prepare(self) -> None:
        host = self._host
        self.text = self.document.text(TEXT_NAME)
        self.comments = Comments(
            self.document, self.text, host.person.name, host.random_bytes, host.wall_time
        )
        self.writers = Writers(self.document, host.person.name)

    def on_new_identity(self) -> None:
        self.writers.on_new_identity()

    def set_caret(self, position: int | None, anchor: int | None = None) -> None:
        """Shows the others where this person's caret is; None hides it. `anchor` is the other end
        of a selection."""
        if position is None:
            self.presence.set_caret(None)
            return
        head = self.text.cursor_at(position)
        fixed = head if anchor is None else self.text.cursor_at(anchor)
        self.presence.set_caret(Caret(TEXT_NAME, head, fixed))


def open_note(reference: Reference, host: Host) -> TextNote:
    """Opens a note: what is on disk is there at once, what others have comes as they are found.

    Raises ReferenceProblem for a reference that is not a note's, StorageError if the disk refuses.
    """
    return TextNote(reference, host, describe_note(reference))
