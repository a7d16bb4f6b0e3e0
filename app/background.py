"""Work that would hold the window up, such as waiting for the disk: in a thread of its own, one
piece after another. It touches nothing that the window knows."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QThreadPool, Signal

Done = Callable[[Exception | None], None]


class Background(QObject):
    """Called with the work, and with who is told of its end, in the thread of the window."""

    _came = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._came.connect(self._finish)

    def __call__(self, work: Callable[[], None], done: Done) -> None:
        self._pool.start(lambda: self._run(work, done))

    def close(self) -> None:
        """Waits until all that was asked for is done; nobody is told any more."""
        self._came.disconnect(self._finish)
        self._pool.waitForDone()

    def _finish(self, done: Done, problem: Exception | None) -> None:
        done(problem)

    # In the thread

    def _run(self, work: Callable[[], None], done: Done) -> None:
        problem: Exception | None = None
        try:
            work()
        except Exception as raised:
            problem = raised
        self._came.emit(done, problem)
