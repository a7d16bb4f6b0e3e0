"""Writes into the open pages of a driven program, as a person or wildly, and says what is saved."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QEvent, QMimeData, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from app.object_page import ObjectPage
from app.stirring import stir
from app.window import MainWindow
from widgets.language import tr
from widgets.shared_text_edit import SharedTextEdit
from widgets.writing_view import WritingView

_LONG_TEXT = 2_000_000

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


class Writing:
    """Answers the requests of `Driving` that write."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """None for what is not for here."""
        match request:
            case {"do": "stir", "seed": int(seed), "edits": int(edits), "mark": str(mark)}:
                return {"saved": self._stir(seed, edits, mark)}
            case {"do": "write", "seed": int(seed), "edits": int(edits), "mark": str(mark)}:
                return {"saved": self._write(seed, edits, mark)}
            case {"do": "saved"}:
                return {"saved": self._called_saved()}
            case {"do": "paste", "size": int(size), "seed": int(seed)}:
                return self._paste(size, random.Random(seed))  # noqa: S311
            case {"do": "type", "text": str(text)}:
                return {"at": self._type(text), "done": time.monotonic()}
            case {"do": "paste", "text": str(text), "times": int(times)}:
                return self._paste_times(text, times)
            case {"do": "long text"}:
                return self._long_text()
        return None

    def _pages(self) -> list[ObjectPage]:
        return self._window.object_pages()

    def _stir(self, seed: int, edits: int, mark: str) -> list[str]:
        """Edits every object; gives the identities of those in which it is on the disk now."""
        chance = random.Random(seed)  # noqa: S311  no secret is made of it
        saved = []
        for page in self._pages():
            self._stir_page(page, chance, edits, mark)
            if page.opened.opening.shared.flush():
                saved.append(str(page.opened.opening.identity))
        return saved

    def _stir_page(self, page: ObjectPage, chance: random.Random, edits: int, mark: str) -> None:
        stir(page.opened.opening.shared.document, chance, edits, mark)
        for key in chance.choices(_KEYS, k=edits):
            self._press(page, *key)

    def _write(self, seed: int, edits: int, mark: str) -> list[str]:
        """Edits every object and leaves the saving to the program; gives what the window calls
        saved, which should be nothing."""
        chance = random.Random(seed)  # noqa: S311  no secret is made of it
        pages = self._pages()
        self._window.bring_to_front(chance.choice(pages))
        for page in pages:
            self._stir_page(page, chance, edits, mark)
        return self._called_saved()

    def _called_saved(self) -> list[str]:
        """The identities of the objects that the window calls saved at this moment."""
        front = self._window.front
        return [
            str(page.opened.opening.identity)
            for page in self._pages()
            if (
                self._window.state_text.startswith(tr("saved"))
                if page is front
                else page.state.saved and page.state.problem is None
            )
        ]

    def _paste(self, size: int, chance: random.Random) -> dict[str, Any]:
        """Pastes so many characters into a text; of one that is very long half is deleted first."""
        pages = [page for page in self._pages() if isinstance(page.view, WritingView)]
        page = chance.choice(pages)
        self._window.bring_to_front(page)
        assert isinstance(page.view, WritingView)
        editor = page.view.editor
        if editor.text.length > _LONG_TEXT:
            editor.text.delete(0, editor.text.length // 2)
        mime = QMimeData()
        line = "".join(chance.choices("abcdefgh ÄÖ漢", k=79)) + "\n"
        mime.setText((line * (size // len(line) + 1))[:size])
        start_s = time.monotonic()
        editor.show_newest()
        caret = editor.textCursor()
        caret.setPosition(chance.randrange(editor.document().characterCount()))
        editor.setTextCursor(caret)
        editor.insertFromMimeData(mime)
        return {"pasted": size, "seconds": time.monotonic() - start_s, "into": page.kind.word}

    def _type(self, text: str) -> float:
        """Presses keys in the page in front; gives the time of the first on the system's clock."""
        front = self._window.front
        assert front is not None, "something is open"
        front.setFocus()
        start_s = time.monotonic()
        for letter in text:
            self._press(front, 0, letter)
        return start_s

    def _editor(self) -> SharedTextEdit:
        view = None if self._window.front is None else self._window.front.view
        assert isinstance(view, WritingView), "a note or a document is in front"
        return view.editor

    def _paste_times(self, text: str, times: int) -> dict[str, Any]:
        """Pastes a text so many times in a row, as one; gives how long that held the window."""
        data = QMimeData()
        data.setText(text * times)
        start_s = time.monotonic()
        self._editor().insertFromMimeData(data)
        return {"held_s": time.monotonic() - start_s}

    def _long_text(self) -> dict[str, Any]:
        """How much of the text in front is shown, without the text itself."""
        editor = self._editor()
        return {
            "length": editor.text.length,
            "shown": editor.document().characterCount() - 1,
            "pasting": editor.long_edits.is_pasting,
            "state": self._window.state_text,
        }

    def _press(self, page: ObjectPage, key: int, letter: str) -> None:
        """A key as the view of a page gets it from the keyboard."""
        target = page.view.focusProxy() or page.view
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, letter)
            QApplication.sendEvent(target, event)
