"""Progress on the error stream: lines for steps, a bar for what can be counted, in a terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO

BAR_CELLS = 30


class Progress:
    """Tells what a job is doing, unless it is to be quiet."""

    def __init__(self, *, quiet: bool, stream: TextIO | None = None) -> None:
        self._quiet = quiet
        self._stream = stream if stream is not None else sys.stderr
        self._started_s = time.monotonic()

    @property
    def live(self) -> bool:
        """Whether somebody watches: only then are there bars."""
        return not self._quiet and self._stream.isatty()

    def step(self, text: str) -> None:
        """A line with the seconds that have passed."""
        if not self._quiet:
            passed_s = time.monotonic() - self._started_s
            self._stream.write(f"{passed_s:7.1f} s  {text}\n")
            self._stream.flush()

    def bar(self, done: int, total: int, what: str) -> None:
        """A bar in place; it ends with a line when all is done."""
        if not self.live:
            return
        part = min(1.0, done / total) if total else 1.0
        cells = "█" * round(part * BAR_CELLS)
        end = "\n" if part >= 1 else ""
        self._stream.write(f"\r{cells:░<{BAR_CELLS}} {part:4.0%} {what}{end}")
        self._stream.flush()
