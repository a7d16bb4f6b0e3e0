"""Asks whether the code of a package may run: one question at a time, and no is the answer to a
closed window."""

from __future__ import annotations

from collections import deque

from app.window import MainWindow
from liveobj.packages.trust import Answer, Question
from widgets.consent_dialog import ConsentDialog


class ConsentAsker:
    """Given to the objects' host before there is a window; refuses until there is one."""

    def __init__(self) -> None:
        self.window: MainWindow | None = None
        self._waiting: deque[tuple[Question, Answer]] = deque()
        self._open = False

    def ask(self, question: Question, answer: Answer) -> None:
        if self.window is None:
            answer(False)
            return
        self._waiting.append((question, answer))
        self._next()

    def _next(self) -> None:
        if self._open or not self._waiting or self.window is None:
            return
        question, answer = self._waiting.popleft()
        self._open = True
        dialog = ConsentDialog(self.window.theme, question, self.window)

        def done(agreed: bool) -> None:
            self._open = False
            answer(agreed)
            self._next()

        dialog.answered.connect(done)
        dialog.open()
