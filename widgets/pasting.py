"""A long text on its way into a shared one: a slice in each turn of the event loop.

The window is never held for longer than a slice takes. Whoever pastes can write on meanwhile, and
everybody else too: the place of the next slice moves with the text.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from liveobj.documents.long_insert import LongInsert

# Texts up to this length are pasted at once.
LONG_CHARACTERS = 20_000
# One step, and how long all steps of one turn may take.
STEP_CHARACTERS = 4000
SLICE_S = 0.008

GoesOn = Callable[[], bool]


class Pasting(QObject):
    """Begins with the next turn of the loop; `work` makes steps of the insertion as long as there
    is time, and shows them. Attributes: `insert`. Signals: `advanced(int)`, per cent; `finished`.
    """

    advanced = Signal(int)
    finished = Signal()

    def __init__(
        self,
        insert: LongInsert,
        work: Callable[[LongInsert, GoesOn], None],
        clock: Callable[[], float],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.insert = insert
        self._work = work
        self._clock = clock
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.run_slice)
        self._timer.start(0)

    @property
    def begun(self) -> bool:
        return self.insert.done > 0

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
        else:
            self.advanced.emit(self.percent)

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
