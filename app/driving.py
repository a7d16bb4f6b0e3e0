"""Lets another program drive this one over the local socket: for soaks and benches, and only when
it was started for that (`--driven`)."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication

from app.burst import Burst, lengthen
from app.frame_times import FrameTimes
from app.object_page import ObjectPage
from app.session import Session
from app.stirring import stir
from app.window import MainWindow
from liveobj.objects.text_note import new_note
from liveobj.opening import Opening

# What a random keyboard has: words, new lines, steps, and a little that is taken away.
_KEYS: list[tuple[int, str]] = [
    *((int(Qt.Key(ord(letter.upper()))), letter) for letter in "abcdefgh"),
    (int(Qt.Key.Key_Space), " "),
    (int(Qt.Key.Key_Return), "\r"),
    (int(Qt.Key.Key_Left), ""),
    (int(Qt.Key.Key_Right), ""),
    (int(Qt.Key.Key_Up), ""),
    (int(Qt.Key.Key_Down), ""),
    (int(Qt.Key.Key_Backspace), ""),
]


class Driving:
    """Answers requests that change things or look inside."""

    def __init__(self, session: Session, window: MainWindow) -> None:
        self._session = session
        self._window = window
        self._held: list[Opening] = []
        self._offline = False
        self.frames = FrameTimes(window)
        self.burst: Burst | None = None

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """None for what is not for here."""
        match request:
            case {"do": "stir", "seed": int(seed), "edits": int(edits), "mark": str(mark)}:
                return {"saved": self._stir(seed, edits, mark)}
            case {"do": "offline", "on": bool(on)}:
                return self._set_offline(on)
            case {"do": "contents"}:
                return {"contents": self._contents(), "busy": self._busy()}
            case {"do": "type", "text": str(text)}:
                return {"at": self._type(text), "done": time.monotonic()}
            case {"do": "lengthen", "paragraphs": int(paragraphs)}:
                return {"length": lengthen(self._window, paragraphs)}
            case {"do": "watch", "sizes": False}:
                return self._watch(sizes=False)
            case {"do": "burst", "rate": int(rate), "seconds": float(seconds)}:
                self.burst = Burst(self._window, rate, seconds)
                return {"begun": True}
            case {"do": "burst"}:
                return {} if self.burst is None else self.burst.result
            case {"do": "hold", "count": int(count)}:
                return {"open": self._hold(count)}
            case {"do": "watch"}:
                return self._watch()
            case {"do": "frames"}:
                return self.frames.take()
        return None

    def _pages(self) -> list[ObjectPage]:
        return self._window.object_pages()

    def _stir(self, seed: int, edits: int, mark: str) -> list[str]:
        """Edits every object; gives the identities of those in which it is on the disk now."""
        chance = random.Random(seed)  # noqa: S311  no secret is made of it
        saved = []
        for page in self._pages():
            shared = page.opened.opening.shared
            stir(shared.document, chance, edits, mark)
            for key in chance.choices(_KEYS, k=edits):
                self._press(page, *key)
            if shared.flush():
                saved.append(str(page.opened.opening.identity))
        return saved

    def _hold(self, count: int) -> int:
        """Opens new notes as a desktop does with what lies on it: live, without a tab."""
        for number in range(count):
            note = new_note(f"Note {number}", os.urandom)
            self._held.append(self._session.open_inside(note))
        return len(self._held)

    def _set_offline(self, on: bool) -> dict[str, Any]:
        """Cuts every object off from the others, or joins it again."""
        if on != self._offline:
            self._offline = on
            for page in self._pages():
                shared = page.opened.opening.shared
                shared.leave() if on else shared.rejoin()
        return {"offline": self._offline}

    def _contents(self) -> dict[str, Any]:
        return {
            str(page.opened.opening.identity): {
                "kind": page.kind.word,
                "shown": page.view.describe(),
                "document": _readable(page.opened.opening.shared.document.to_plain()),
            }
            for page in self._pages()
        }

    def _busy(self) -> bool:
        states = [page.state for page in self._pages()]
        return any(state.unsent or state.catching_up or not state.saved for state in states)

    def _watch(self, *, sizes: bool = True) -> dict[str, Any]:
        """From now on `frames` tells when the page in front was painted, and with how much text."""
        front = self._window.front
        assert front is not None, "something is open"
        first = front.view.focusProxy() or front.view
        target = first.viewport() if isinstance(first, QAbstractScrollArea) else first
        size = lambda: len(str(front.view.describe().get("text", "")))  # noqa: E731
        self.frames.watch(target, size if sizes else lambda: 0)
        return {"watched": True}

    def _type(self, text: str) -> float:
        """Presses keys in the page in front; gives the time of the first on the system's clock."""
        front = self._window.front
        assert front is not None, "something is open"
        front.setFocus()
        start_s = time.monotonic()
        for letter in text:
            self._press(front, 0, letter)
        return start_s

    def _press(self, page: ObjectPage, key: int, letter: str) -> None:
        """A key as the view of a page gets it from the keyboard."""
        target = page.view.focusProxy() or page.view
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, letter)
            QApplication.sendEvent(target, event)


def _readable(value: Any) -> Any:
    """Plain values as JSON can carry them, nothing left out."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        return {str(key): _readable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(one) for one in value]
    return value
