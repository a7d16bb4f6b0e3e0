"""Long content that is pasted into a document is read beside the window and poured in by parts."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt

from liveobj.richtext.model import Paragraph, Run
from tests.widgets.document.conftest import Desk
from widgets.document import conversion
from widgets.document.clipboard import fill_mime, long_form
from widgets.document.conversion import Pouring

LINES = [f"line {number} of what is pasted" for number in range(3000)]


def html() -> QMimeData:
    mime = QMimeData()
    mime.setHtml("".join(f"<p><b>bold</b> {line}</p>" for line in LINES))
    return mime


def plain() -> QMimeData:
    mime = QMimeData()
    mime.setText("\r\n".join(f"bold {line}" for line in LINES))
    return mime


def own() -> QMimeData:
    mime = QMimeData()
    fill_mime(mime, tuple(Paragraph((Run(f"bold {line}"),)) for line in LINES))
    return mime


def paste(desk: Desk, mime: QMimeData) -> None:
    desk.one.editor.insertFromMimeData(mime)


def wait_until_pasted(desk: Desk) -> None:
    last = f"{LINES[-1]}."
    desk.qtbot.waitUntil(lambda: last in desk.one.body.text.to_string(), timeout=30_000)
    edits = desk.one.editor.long_edits
    desk.qtbot.waitUntil(lambda: not edits.is_pasting, timeout=30_000)
    desk.one.show_newest()


@pytest.mark.parametrize("offered", [html, plain, own])
def test_long_content_is_pasted_by_parts_as_one_step(
    desk: Desk, offered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[int] = []
    insert = type(desk.one.body).insert

    def count(body: Any, position: int, content: Any) -> int:
        parts.append(len(content))
        return insert(body, position, content)

    monkeypatch.setattr(type(desk.one.body), "insert", count)
    desk.type("before .")
    desk.one.editor.place_caret(7)
    paste(desk, offered())
    assert desk.one.body.text.to_string() == "before .", "it is read beside the window"
    wait_until_pasted(desk)
    assert len(parts) > 3
    assert max(parts) <= conversion._PARTS_MAX
    text = desk.one.body.text.to_string()
    assert text == "before " + "\n".join(f"bold {line}" for line in LINES) + "."
    assert desk.one.editor.toPlainText() == text
    assert desk.one.editor.textCursor().position() == len(text) - 1
    desk.one.undo_edit()
    desk.one.show_newest()
    assert desk.one.body.text.to_string() == desk.one.editor.toPlainText() == "before ."


def test_escape_ends_it_and_takes_it_back(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_PARTS_FIRST", 1)
    monkeypatch.setattr(conversion, "_PARTS_MAX", 1)
    desk.type("before ")
    paste(desk, plain())
    edits = desk.one.editor.long_edits
    desk.qtbot.waitUntil(lambda: len(desk.one.body.text.to_string()) > 100, timeout=30_000)
    assert edits.is_pasting
    desk.qtbot.keyClick(desk.one.editor, Qt.Key.Key_Escape)
    assert not edits.is_pasting
    desk.one.show_newest()
    assert desk.one.body.text.to_string() == desk.one.editor.toPlainText() == "before "


def test_leaving_the_page_puts_the_rest_in(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_PARTS_FIRST", 1)
    monkeypatch.setattr(conversion, "_PARTS_MAX", 1)
    paste(desk, plain())
    desk.qtbot.waitUntil(lambda: len(desk.one.body.text.to_string()) > 100, timeout=30_000)
    assert any(isinstance(one, Pouring) for one in desk.one._work)
    desk.one.finish_typing()
    assert desk.one.body.text.to_string().endswith(LINES[-1])
    assert not desk.one.editor.long_edits.is_pasting


def test_short_content_is_read_at_once() -> None:
    mime = QMimeData()
    mime.setHtml("<p>words</p>")
    mime.setText("words")
    assert long_form(mime) is None
