"""Only what was edited is painted anew, and nothing old is left on the screen for that."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from liveobj.channels.presence import Presence, PresenceEntry
from liveobj.documents import Document
from liveobj.objects.rich_document import RichBody
from liveobj.richtext.model import Block, Run
from tests.liveobj.richtext.test_rich_text import edit as random_edit
from tests.widgets.test_lazy_layout import on_screen, painted_anew
from widgets.document.formatted_edit import Writing
from widgets.document.rich_editor import RichEditor
from widgets.theme import Theme

STYLES = ("", "h1", "number", "number", "number", "bullet", "check", "quote", "code", "code", "")


@pytest.mark.parametrize("seed", range(2))
def test_lists_headings_and_frames_are_whole_after_any_edit(
    theme: Theme, qapp: QApplication, qtbot: Any, seed: int
) -> None:
    dice = random.Random(seed)
    far = RichBody(Document(1), dice.randbytes)
    far.rich.insert_lines(0, [(Block(style), [Run(f"{style} words")]) for style in STYLES])
    here = RichBody(Document(2), dice.randbytes)
    here.document.import_update(far.document.export_snapshot())
    nobody = Presence(PresenceEntry("Ada", "#006892"), lambda: None)
    editor = RichEditor(theme, Writing(here.document, here.text, nobody, here.rich), "text")
    qtbot.addWidget(editor, before_close_func=lambda editor: editor.close_view())
    editor.resize(500, 460)
    editor.setCursorWidth(0)  # it blinks
    editor.show()
    for _ in range(30):
        if dice.random() < 0.5:
            random_edit(dice, far.rich)
            here.document.import_update(far.document.export_since(here.document.version))
            editor.show_newest()
        else:
            caret = QTextCursor(editor.document())
            caret.setPosition(dice.randrange(editor.document().characterCount()))
            editor.setTextCursor(caret)
            QTest.keyClicks(editor, dice.choice(["x", "ab ", "W" * 30]))
            far.document.import_update(here.document.export_since(far.document.version))
        qapp.processEvents()
        assert on_screen(editor) == painted_anew(editor)
