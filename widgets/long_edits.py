"""Edits of a shared text that would hold the window if they were made at once: long pastes and
drops, and the removal of long selections.

Both are made in the replicated text, and the view follows in slices, as it does with long edits of
others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from liveobj.documents.errors import DocumentError
from liveobj.documents.long_insert import LongInsert
from liveobj.documents.text import TextChange
from widgets.language import tr
from widgets.pasting import STEP_CHARACTERS, GoesOn, Pasting
from widgets.progress_card import ProgressCard

if TYPE_CHECKING:
    from widgets.shared_text_edit import SharedTextEdit

log = logging.getLogger(__name__)

# What takes no longer than this shows no card.
CARD_AFTER_S = 0.3
# Selections up to this length are removed at once.
LONG_UNITS = 100_000


class Insertion(Protocol):
    """Something long on its way into the text. Attributes: `begun`, whether any of it is in."""

    @property
    def begun(self) -> bool: ...

    @property
    def finished(self) -> SignalInstance: ...

    @property
    def advanced(self) -> SignalInstance: ...

    def cancel(self) -> None:
        """Leaves it at what is in."""

    def run_rest(self) -> None:
        """Puts all that is left in at once."""


class LongEdits(QObject):
    """Of one editor. Attributes: `card`. Signals: `pasting_changed(bool)`."""

    pasting_changed = Signal(bool)

    def __init__(self, editor: SharedTextEdit, clock: Callable[[], float]) -> None:
        super().__init__(editor)
        self._editor = editor
        self._clock = clock
        self._pastings: list[Insertion] = []
        self._leads: LongInsert | None = None  # behind which the caret is to be
        self._begin_s = 0.0
        self._typed = False  # whether something was written while a paste went on
        self.card = ProgressCard(editor.theme, editor)
        self.card.cancelled.connect(self.cancel)

    @property
    def is_pasting(self) -> bool:
        return bool(self._pastings)

    def on_edited(self) -> None:
        """The person has edited the view."""
        self._typed = True

    # Pasting

    def paste(self, words: str, position: int | None = None) -> None:
        """Begins to put words in the place of the selection, or at a position of the view."""
        editor = self._editor
        caret = editor.textCursor()
        start, end = caret.selectionStart(), caret.selectionEnd()
        if position is not None:
            start = end = position
        at, length = editor.in_text(start), editor.in_text(end) - editor.in_text(start)
        try:
            insert = editor.text.insert_long(at, words, "paste")
        except DocumentError as problem:
            log.warning("a paste was refused: %s", problem)
            return
        if length:
            self._remove(start, at, length)
        elif position is not None:
            self._put_caret(position)
        self._leads = insert
        self.adopt(Pasting(insert, self._work, self._clock, self))

    def adopt(self, insertion: Insertion) -> None:
        """Shows how far it is, and ends it when the person wants that."""
        insertion.advanced.connect(self._on_advanced)
        if not self._pastings:
            self._typed = False
            self._begin_s = self._clock()
        insertion.finished.connect(lambda: self._on_finished(insertion))
        self._pastings.append(insertion)
        self.pasting_changed.emit(True)

    def _on_advanced(self, percent: int) -> None:
        if self._clock() - self._begin_s > CARD_AFTER_S:
            self.card.show_progress(tr("Pasting… {percent} %", percent=percent))

    def _work(self, insert: LongInsert, goes_on: GoesOn) -> None:
        self._editor.update_text(lambda: list(self._steps(insert, goes_on)))

    def _steps(self, insert: LongInsert, goes_on: GoesOn) -> Iterator[TextChange]:
        """The next pieces, each in the view at once; at least one."""
        more = True
        while more:
            place = self._editor.in_view(insert.position)
            try:
                more = insert.step(STEP_CHARACTERS)
            except DocumentError as problem:
                log.warning("a paste was refused: %s", problem)
                insert.cancel()
                more = False
            yield from self._editor.apply_between(place, place)
            more = more and goes_on()

    # The caret belongs behind what is pasted. While that grows it stays in sight, where it was.

    def settle_caret(self) -> None:
        """Something is about to be written: at the end of what is pasted so far. What is pasted
        later comes before it."""
        insert, self._leads = self._leads, None
        if insert is not None:
            self._put_caret(self._editor.in_view(insert.position))

    def release_caret(self) -> None:
        """The person puts the caret somewhere else."""
        self._leads = None

    def _put_caret(self, position: int) -> None:
        caret = self._editor.textCursor()
        caret.setPosition(min(position, self._editor.document().characterCount() - 1))
        self._editor.setTextCursor(caret)

    def cancel(self) -> None:
        """Takes back what is in so far; leaves it where the person has written meanwhile, which
        would be taken back with it."""
        begun = any(pasting.begun for pasting in self._pastings)
        self.stop()
        if begun and not self._typed:
            self._editor.undo_edit()

    def stop(self) -> None:
        """Leaves everything at what is in."""
        for pasting in list(self._pastings):
            pasting.cancel()

    def finish(self) -> None:
        """Puts all that is left into the text now."""
        for pasting in list(self._pastings):
            pasting.run_rest()

    def _on_finished(self, pasting: Insertion) -> None:
        self._pastings.remove(pasting)
        if isinstance(pasting, Pasting) and self._leads is pasting.insert:
            self.settle_caret()
        if not self._pastings:
            self.card.hide()
            self.pasting_changed.emit(False)
            self._editor.history_changed.emit()

    # Removing

    def remove_selection(self) -> bool:
        """Removes what is selected if it is long; False, and nothing is done, if it is not."""
        caret = self._editor.textCursor()
        start, end = caret.selectionStart(), caret.selectionEnd()
        if end - start <= LONG_UNITS or self._editor.isReadOnly():
            return False
        at, until = self._editor.in_text(start), self._editor.in_text(end)
        self._editor.replicated.undo_boundary()
        self._remove(start, at, until - at)
        self._editor.history_changed.emit()
        return True

    def _remove(self, start: int, at: int, length: int) -> None:
        self._put_caret(start)
        try:
            self._editor.remove_text(at, length)
        except DocumentError as problem:
            log.warning("a removal was refused: %s", problem)
        self._editor.show_soon()
