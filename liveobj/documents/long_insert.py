"""Owns the insertion of a long text, a step at a time, while everybody goes on editing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from liveobj.documents.errors import PositionError, loro_errors
from liveobj.documents.units import utf16_length

if TYPE_CHECKING:
    from liveobj.documents.text import Text

# So much at once holds an event loop for well under a millisecond.
STEP_CHARACTERS = 16_000
# Who is connected makes no step while more than this is unsent (`SharedState.unsent`): what others
# write meanwhile is then merged in between, and not beside all of it.
UNSENT_MAX = 4 * STEP_CHARACTERS


class LongInsert:
    """A long text on its way into a document; `Text.insert_long(position, words)` makes it.

    `step(characters=16_000) -> bool` inserts the next piece, as one transaction, after what is in
    already, wherever edits of this person and of others have moved that; it returns whether there
    is more. `done` and `size` count UTF-16 units, `finished` is true in the end. All steps are one
    step of undo, with whatever else this person does in between; undo in the middle ends the
    insertion and takes it back. `run()` does all the steps at once, `cancel()` leaves it at what is
    in.

    A window makes one step a frame, and none while `state.unsent` is above UNSENT_MAX.
    """

    def __init__(self, text: Text, position: int, words: str, label: str = "") -> None:
        if not 0 <= position <= text.length:
            raise PositionError(f"Cannot insert at {position}: the length is {text.length}")
        with loro_errors(PositionError, f"Cannot insert at {position}"):
            words.encode()  # a half of a character is refused now, not in the middle
        self._text = text
        self._words = words
        self._label = label
        self._at = 0  # in characters
        self._place: Callable[[], int] = text.hold(position)
        self.done = 0
        self.size = utf16_length(words)
        self.finished = False
        text.document.begin_long_edit(self)

    @property
    def position(self) -> int:
        """Where the next piece goes, in UTF-16 units."""
        return self._place()

    def step(self, characters: int = STEP_CHARACTERS) -> bool:
        if self.finished:
            return False
        piece = self._words[self._at : self._at + characters]
        if piece:
            at, units = self._place(), utf16_length(piece)
            with self._text.document.transaction(self._label):
                self._text.insert(at, piece)
            self._at += len(piece)
            self.done += units
            self._place = self._text.hold(at + units)
        if self._at >= len(self._words):
            self._finish()
        return not self.finished

    def run(self) -> None:
        while self.step():
            pass

    def cancel(self) -> None:
        """What is in stays in, and is undone as one. Harmless when done twice."""
        if not self.finished:
            self._finish()

    def _finish(self) -> None:
        self.finished = True
        self._words = ""
        self._text.document.end_long_edit(self)
