"""The first desktop that a newcomer sees: a plane of real objects that say what one can do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from app.session import Session
from liveobj.objects.desktop import Desktop, Placing
from liveobj.objects.desktop_items import Frame
from liveobj.objects.text_note import TextNote
from liveobj.references import Reference, write_reference
from widgets.language import tr

_NOTE = (340.0, 310.0)
_WIDE = (380.0, 640.0)
_GAP = 20.0


def lessons() -> list[tuple[str, str]]:
    """Title and text of each note on it."""
    return [
        (
            tr("Hello"),
            tr(
                "This is a desktop. Everything on it is live: whoever has the same one sees it"
                " change as you work.\n\nClick twice into this note and write something."
            ),
        ),
        (
            tr("Give it to somebody"),
            tr(
                "Press Share. Save the file, copy it as text, show the QR code, or press the name"
                " of somebody near you.\n\nWhoever has it is in it with you. There is no server."
            ),
        ),
        (
            tr("Make something"),
            tr(
                "Drag a note, a chat or a table out of the toolbox at the side and drop it"
                " here.\n\nHold Space and drag to look around. Ctrl and the wheel zoom."
            ),
        ),
        (
            tr("Find it again"),
            tr(
                "Ctrl+K finds every command, and every word in everything that you had open.\n\n"
                "What you take back with Ctrl+Z is only what you did yourself."
            ),
        ),
    ]


class Tour:
    """Makes the desktop, once, with the objects of this person."""

    def __init__(self, session: Session, now: Callable[[], datetime]) -> None:
        self._session = session
        self._now = now

    def make(self) -> Path:
        """The file of the desktop. Raises a Problem if the disk refuses."""
        kinds = self._session.kinds
        reference, file = self._session.make(
            kinds["desktop"], self._now(), tr("Your first desktop")
        )
        placings = []
        for number, (title, text) in enumerate(lessons()):
            column, row = number % 2, number // 2
            frame = Frame(column * (_NOTE[0] + _GAP), row * (_NOTE[1] + _GAP), *_NOTE)
            placings.append(Placing(write_reference(self._note(title, text)), frame))
        chat, _ = self._session.make(kinds["chat"], self._now(), tr("Talk"))
        left = 2 * (_NOTE[0] + _GAP)
        placings.append(Placing(write_reference(chat), Frame(left, 0, *_WIDE)))
        opening = self._session.open_inside(reference)
        try:
            desktop = opening.shared
            assert isinstance(desktop, Desktop), "the kind says what is opened"
            desktop.place_all(placings)
            desktop.flush()
        finally:
            opening.close()
        return file

    def _note(self, title: str, text: str) -> Reference:
        reference, _ = self._session.make(self._session.kinds["note"], self._now(), title)
        opening = self._session.open_inside(reference)
        try:
            note = opening.shared
            assert isinstance(note, TextNote), "the kind says what is opened"
            with note.document.transaction("tour", undoable=False):
                note.text.insert(0, text)
            note.flush()
        finally:
            opening.close()
        return reference
