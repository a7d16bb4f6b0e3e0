"""The command palette: a few letters find a command, keys choose it, disabled ones say why."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from widgets.command_palette import Command, CommandPalette, match_score
from widgets.theme import Theme

COMMANDS = [
    Command("open", "Open…", "Ctrl+O"),
    Command("new", "New note", "Ctrl+N"),
    Command("undo", "Undo", "Ctrl+Z", "nothing of yours to undo"),
    Command("dark", "Dark theme", ""),
]


@pytest.fixture
def palette(theme: Theme, qtbot: Any) -> CommandPalette:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(800, 600)
    window.show()
    return CommandPalette(theme, lambda: COMMANDS, window)


@pytest.mark.parametrize(
    ("query", "title", "fits"),
    [
        ("", "Anything", True),
        ("nn", "New note", True),
        ("note", "New note", True),
        ("NEW NOTE", "New note", True),
        ("eno", "New note", True),
        ("xyz", "New note", False),
        ("eton", "New note", False),
    ],
)
def test_letters_fit_in_their_order(query: str, title: str, fits: bool) -> None:
    assert (match_score(query, title) is not None) == fits


def test_beginnings_of_words_come_first() -> None:
    titles = ["Undo", "Open reference from clipboard", "New note", "Dark theme"]
    best = min(
        (title for title in titles if match_score("d", title) is not None),
        key=lambda title: match_score("d", title) or 0,
    )
    assert best == "Dark theme"


def test_what_cannot_be_done_comes_last_and_cannot_be_chosen(
    palette: CommandPalette, qtbot: Any
) -> None:
    palette.open()
    assert palette.shown_titles() == ["Open…", "New note", "Dark theme", "Undo"]
    chosen: list[str] = []
    palette.chosen.connect(chosen.append)
    qtbot.keyClicks(palette._field, "undo")
    qtbot.keyClick(palette._field, Qt.Key.Key_Return)
    assert chosen == []
    assert palette.isVisible()


def test_typing_and_return_choose(palette: CommandPalette, qtbot: Any) -> None:
    palette.open()
    qtbot.keyClicks(palette._field, "nn")
    assert palette.shown_titles() == ["New note"]
    with qtbot.waitSignal(palette.chosen) as signal:
        qtbot.keyClick(palette._field, Qt.Key.Key_Return)
    assert signal.args == ["new"]
    assert not palette.isVisible()


def test_arrows_go_round_and_escape_leaves(palette: CommandPalette, qtbot: Any) -> None:
    palette.open()
    qtbot.keyClick(palette._field, Qt.Key.Key_Up)
    assert palette._list.currentIndex().row() == len(COMMANDS) - 1
    qtbot.keyClick(palette._field, Qt.Key.Key_Down)
    assert palette._list.currentIndex().row() == 0
    qtbot.keyClick(palette._field, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_it_opens_empty_again(palette: CommandPalette, qtbot: Any) -> None:
    palette.open()
    qtbot.keyClicks(palette._field, "zzz")
    assert palette.shown_titles() == []
    qtbot.keyClick(palette._field, Qt.Key.Key_Return)
    palette.close()
    palette.open()
    assert len(palette.shown_titles()) == len(COMMANDS)


def test_a_title_that_begins_so_comes_before_others(theme: Theme, qtbot: Any) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    commands = [Command("files", "New shared files", ""), Command("share", "Share", "")]
    palette = CommandPalette(theme, lambda: commands, window)
    palette.open()
    qtbot.keyClicks(palette._field, "share")
    assert palette.shown_titles() == ["Share", "New shared files"]


def test_it_says_when_nothing_fits(palette: CommandPalette, qtbot: Any) -> None:
    palette.open()
    qtbot.keyClicks(palette._field, "zzz")
    said = [each.text() for each in palette.findChildren(QLabel) if each.isVisible()]
    assert said == ["Nothing fits “zzz”."]
    palette._field.clear()
    assert not [each for each in palette.findChildren(QLabel) if each.isVisible()]
