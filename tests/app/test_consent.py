"""The question before a package's code runs: one at a time, in words, and no unless it is yes."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton

from app.consent import ConsentAsker
from liveobj.packages.trust import Question
from tests.app.conftest import MakePlace
from widgets.consent_dialog import ConsentDialog, sentences

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CLOCK = Question("clock", "<b>Clock</b>", 3, "ab" * 32)
QUIET = Question("quiet", "Quiet", 1, "cd" * 32, confined=True)


def press(dialog: ConsentDialog, words: str) -> None:
    next(b for b in dialog.findChildren(QPushButton) if b.text() == words).click()


def test_without_a_window_the_answer_is_no() -> None:
    answers: list[bool] = []
    ConsentAsker().ask(CLOCK, answers.append)
    assert answers == [False]


def test_questions_come_one_after_another(make_place: MakePlace, qtbot: Any) -> None:
    asker = ConsentAsker()
    asker.window = make_place("Ada").window
    answers: list[tuple[str, bool]] = []
    for question in (CLOCK, QUIET, CLOCK):
        asker.ask(question, lambda yes, q=question: answers.append((q.package, yes)))

    def dialog() -> ConsentDialog:
        assert asker.window is not None
        shown = [d for d in asker.window.findChildren(ConsentDialog) if d.isVisible()]
        assert len(shown) == 1
        return shown[0]

    press(dialog(), "Trust this publisher and run it")
    press(dialog(), "Do not run it")
    dialog().close()
    assert answers == [("clock", True), ("quiet", False), ("clock", False)]


def test_the_dialog_says_what_the_code_could_do() -> None:
    assert "read and change your files" in sentences(CLOCK)[0]
    assert "without your files" in sentences(QUIET)[0]
    assert "abab abab abab abab" in sentences(CLOCK)[1]
