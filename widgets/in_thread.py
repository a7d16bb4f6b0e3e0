"""Work that takes longer than a frame and touches nothing of the window, done in a thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, QThreadPool, Signal


class InThread(QObject):
    """Does one piece of work. `done` gets the result, or None and what was raised; it is not called
    once the work was cancelled or the parent is gone."""

    _came = Signal(object, object)

    def __init__(
        self,
        work: Callable[[], Any],
        done: Callable[[Any, Exception | None], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._work = work
        self._done: Callable[[Any, Exception | None], None] | None = done
        self._came.connect(self._finish)
        QThreadPool.globalInstance().start(self._run)

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        self._done = None

    def _finish(self, result: Any, problem: Exception | None) -> None:
        done, self._done = self._done, None
        self.deleteLater()
        if done is not None:
            done(result, problem)

    # In the thread

    def _run(self) -> None:
        result: Any = None
        problem: Exception | None = None
        try:
            result = self._work()
        except Exception as error:
            problem = error
        with suppress(RuntimeError):  # the parent is gone, and this with it
            self._came.emit(result, problem)
