"""Lets another program drive this one over the local socket: for soaks and benches, and only when
it was started for that (`--driven`)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from PySide6.QtWidgets import QAbstractScrollArea

from app.burst import Burst, lengthen
from app.frame_times import FrameTimes
from app.object_page import ObjectPage
from app.session import Session
from app.window import MainWindow
from app.writing import Writing
from liveobj.objects.text_note import new_note
from liveobj.opening import Opening


class Driving:
    """Answers requests that change things or look inside."""

    def __init__(self, session: Session, window: MainWindow) -> None:
        self._session = session
        self._window = window
        self._held: list[Opening] = []
        self._offline = False
        self.frames = FrameTimes(window)
        self.burst: Burst | None = None
        self._writing = Writing(window)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """None for what is not for here."""
        match request:
            case {"do": "offline", "on": bool(on)}:
                return self._set_offline(on)
            case {"do": "contents"}:
                return {"contents": self._contents(), "busy": self._busy()}
            case {"do": "digests"}:
                return {"digests": self._digests(), "busy": self._busy()}
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
        return self._writing.answer(request)

    def _pages(self) -> list[ObjectPage]:
        return self._window.object_pages()

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

    def _digests(self) -> dict[str, str]:
        """A hash of what each object holds, which is quick to compare."""
        return {
            str(page.opened.opening.identity): _digest(
                _readable(page.opened.opening.shared.document.to_plain())
            )
            for page in self._pages()
        }

    def _busy(self) -> list[str]:
        """What is still to be done, in words; nothing where all is at rest."""
        return [
            f"{page.kind.word}: {word}"
            for page in self._pages()
            for word, is_so in (
                (f"{page.state.unsent} unsent", page.state.unsent > 0),
                ("catching up", page.state.catching_up),
                ("not saved", not page.state.saved),
            )
            if is_so
        ]

    def _watch(self, *, sizes: bool = True) -> dict[str, Any]:
        """From now on `frames` tells when the page in front was painted, and with how much text."""
        front = self._window.front
        assert front is not None, "something is open"
        first = front.view.focusProxy() or front.view
        target = first.viewport() if isinstance(first, QAbstractScrollArea) else first
        size = lambda: len(str(front.view.describe().get("text", "")))  # noqa: E731
        self.frames.watch(target, size if sizes else lambda: 0)
        return {"watched": True}


def _readable(value: Any) -> Any:
    """Plain values as JSON can carry them, nothing left out."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, dict):
        return {str(key): _readable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(one) for one in value]
    return value


def _digest(document: Any) -> str:
    packed = json.dumps(document, ensure_ascii=False, sort_keys=True)
    return blake2b(packed.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
