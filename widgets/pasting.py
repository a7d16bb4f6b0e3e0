"""A long text on its way into a shared one: a slice in each turn of the event loop.

The window is never held for longer than a slice takes. Whoever pastes can write on meanwhile, and
everybody else too: the place of the next slice moves with the text. A card tells how far it is.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from liveobj.documents.long_insert import LongInsert
from widgets.language import tr
from widgets.progress_card import ProgressCard

# Texts up to this length are pasted at once.
LONG_CHARACTERS = 20_000
# One step, and how long all steps of one turn may take.
STEP_CHARACTERS = 4000
SLICE_S = 0.008
# A paste that takes no longer than this shows no card.
_CARD_AFTER_S = 0.3

GoesOn = Callable[[], bool]


class Pasting(QObject):
    """Begins with the next turn of the loop; `work` makes steps of the insertion as long as there
    is time, and shows them. Attributes: `insert`. Signals: `finished`."""

    finished = Signal()

    def __init__(
        self,
        insert: LongInsert,
        work: Callable[[LongInsert, GoesOn], None],
        card: ProgressCard,
        clock: Callable[[], float],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.insert = insert
        self._work = work
        self._card = card
        self._clock = clock
        self._begin_s = clock()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.run_slice)
        self._timer.start(0)

    @property
    def percent(self) -> int:
        return 100 * self.insert.done // max(1, self.insert.size)

    def run_slice(self) -> None:
        """As many steps as there is time for."""
        end_s = self._clock() + SLICE_S
        if not self.insert.finished:
            self._work(self.insert, lambda: self._clock() < end_s)
        if self.insert.finished:
            self._end()
        elif self._clock() - self._begin_s > _CARD_AFTER_S:
            self._card.show_progress(tr("Pasting… {percent} %", percent=self.percent))

    def run_rest(self) -> None:
        """Puts all that is left into the text at once, as the page is about to be closed."""
        self.insert.run()
        self._end()

    def cancel(self) -> None:
        """Leaves it at what is in."""
        self.insert.cancel()
        self._end()

    def _end(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
            self._card.hide()
            self.finished.emit()
            self.deleteLater()


def plain_lines(text: str) -> str:
    """What comes from elsewhere with one kind of line end, and without halves of characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
