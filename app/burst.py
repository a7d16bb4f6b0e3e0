"""Many small edits a second in the note or document in front, as an automatic writer would do."""

from __future__ import annotations

import random
import time
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer

from app.window import MainWindow
from liveobj.objects.rich_document import RichDocument
from liveobj.objects.text_note import TextNote
from liveobj.richtext.model import Block, Run

_TICK_MS = 10
# In one tick it works no longer than this, so that the window stays alive; the rate drops instead.
_WORK_S_MAX = 0.008
_LONG_UNITS = 10_000
_PARAGRAPHS_AT_ONCE = 500


class Burst(QObject):
    """Begins at once and ends by itself. Attributes: `result`, empty until it has ended."""

    def __init__(self, window: MainWindow, rate: int, seconds: float) -> None:
        super().__init__(window)
        self._text = _written(window).text
        self._chance = random.Random(1)  # noqa: S311  no secret is made of it
        self._rate = rate
        self._start_s = time.monotonic()
        self._end_s = self._start_s + seconds
        self._done = 0
        self.result: dict[str, Any] = {}
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_TICK_MS)

    def _tick(self) -> None:
        now_s = time.monotonic()
        due = round((min(now_s, self._end_s) - self._start_s) * self._rate)
        until_s = now_s + _WORK_S_MAX
        length = self._text.length
        long = length > _LONG_UNITS
        while self._done < due and time.monotonic() < until_s:
            if long:
                self._edit_anywhere()
                continue
            # Over and over the same short text: it is the edits that count, not its length.
            if length >= 200:
                self._text.delete(0, 1)
                length -= 1
            else:
                self._text.insert(length // 2, "x")
                length += 1
            self._done += 1
        self._end(now_s)

    def _edit_anywhere(self) -> None:
        """In a long text: at random places, a letter more or one less."""
        at = self._chance.randrange(self._text.length - 1)
        if self._done % 2:
            self._text.delete(at, 1)
        else:
            self._text.insert(at, "x")
        self._done += 1

    def _end(self, now_s: float) -> None:
        if now_s >= self._end_s:
            self._timer.stop()
            self.result = {"edits": self._done, "seconds": now_s - self._start_s}


def lengthen(window: MainWindow, paragraphs: int) -> int:
    """Makes the note or document in front long; gives the length of its text."""
    shared = _written(window)
    words = "Everybody who has this document sees what is written in it. "
    if isinstance(shared, TextNote):
        lines = (words * (1 + at % 3) + str(at) for at in range(paragraphs))
        shared.text.insert(shared.text.length, "\n".join(lines))
        return shared.text.length
    rich = shared.body.rich
    for number in range(0, paragraphs, _PARAGRAPHS_AT_ONCE):
        parts = [
            (Block("h2" if at % 40 == 0 else ""), [Run(words * (1 + at % 3) + str(at))])
            for at in range(number, min(paragraphs, number + _PARAGRAPHS_AT_ONCE))
        ]
        with shared.document.transaction("lengthen"):
            if number:
                rich.split(rich.text.length)
            rich.insert_lines(rich.text.length, parts)
    return rich.text.length


def _written(window: MainWindow) -> TextNote | RichDocument:
    front = window.front
    shared = None if front is None else front.opened.opening.shared
    assert isinstance(shared, TextNote | RichDocument), "a note or a document is in front"
    return shared
