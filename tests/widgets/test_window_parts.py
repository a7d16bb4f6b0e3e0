"""The parts of the window alone: they show what they are given and tell who asked for what."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QWidget

from widgets.empty_state import EmptyState, action_button
from widgets.error_card import ErrorCard
from widgets.home import Home
from widgets.kinds import KINDS
from widgets.listed_object import ListedObject
from widgets.notice import Notice
from widgets.object_tabs import ObjectTabs, TabBar
from widgets.roles import Mode
from widgets.sidebar import Sidebar
from widgets.theme import Theme
from widgets.toolbox import Tool
from widgets.top_bar import TopBar

RECENT = [ListedObject(f"/k{n}", f"Title {n} & more", f"/k{n}", "note") for n in range(9)]


@pytest.fixture
def action(qapp: Any) -> QAction:
    return QAction("New note")


def buttons(widget: QWidget) -> list[QToolButton]:
    return [b for b in widget.findChildren(QToolButton) if b.isVisibleTo(widget)]


def test_an_empty_state_teaches_and_its_buttons_follow_their_actions(
    theme: Theme, action: QAction, qtbot: Any
) -> None:
    empty = EmptyState(theme, "home", "Nothing here", "Make something.", [action])
    qtbot.addWidget(empty)
    empty.show()
    button = empty.findChild(QPushButton)
    with qtbot.waitSignal(action.triggered):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    action.setEnabled(False)
    assert not button.isEnabled()
    drawing = empty.findChildren(QLabel)[0].pixmap()
    assert drawing.deviceIndependentSize().toSize() == QSize(240, 168)


def test_a_button_of_a_disabled_action_begins_disabled(action: QAction, qtbot: Any) -> None:
    action.setEnabled(False)
    button = action_button(action, "plain")
    qtbot.addWidget(button)
    assert not button.isEnabled()


def test_home_shows_the_latest_and_opens_them(theme: Theme, action: QAction, qtbot: Any) -> None:
    home = Home(theme, KINDS, [action])
    qtbot.addWidget(home)
    home.show()
    assert buttons(home) == []
    home.show_recent(RECENT)
    home.show_recent(RECENT[1:])
    qtbot.waitUntil(lambda: len(buttons(home)) == 4)
    with qtbot.waitSignal(home.open_recent) as signal:
        buttons(home)[0].click()
    assert signal.args == ["/k1"]


def test_the_side_shows_tools_navigation_and_what_was_open(
    theme: Theme, action: QAction, qtbot: Any
) -> None:
    home = QAction("Home", checkable=True)
    tool = Tool("note", "note", "Note", "A shared text", action)
    side = Sidebar(theme, KINDS, [("house", home)], [tool])
    qtbot.addWidget(side)
    side.show()
    side.show_recent(RECENT)
    by_name = {button.accessibleName(): button for button in buttons(side)}
    assert next(iter(by_name)) == "Home"
    assert len(by_name) == 2 + 6
    with qtbot.waitSignal(side.open_asked) as signal:
        by_name["Open Title 0 & more"].click()
    assert signal.args == ["/k0"]
    with qtbot.waitSignal(action.triggered):
        by_name["New note"].click()
    wide = side.width()
    side.set_folded(True)
    assert side.width() < wide
    assert [button.accessibleName() for button in buttons(side)] == ["Home", "New note"]
    home.setChecked(True)
    assert buttons(side)[0].isChecked()


def test_tabs_tell_what_is_in_front_and_what_shall_close(
    theme: Theme, action: QAction, qtbot: Any
) -> None:
    tabs = ObjectTabs(theme, action)
    qtbot.addWidget(tabs)
    fronts: list[object] = []
    tabs.front_changed.connect(fronts.append)
    pages = [QWidget(), QWidget()]
    tabs.add_page(pages[0], "R&D " + "very " * 20, "/one", "file-text")
    tabs.add_page(pages[1], "Two", "/two", "box")
    assert fronts == pages
    assert tabs.tabText(0).startswith("R&&D")
    assert tabs.tabText(0).endswith("…")
    with qtbot.waitSignal(tabs.close_asked) as signal:
        tabs.tabBar().tabButton(0, tabs.tabBar().ButtonPosition.RightSide).click()
    assert signal.args == [pages[0]]
    tabs.remove_page(pages[0])
    assert tabs.pages() == [pages[1]]
    theme.set_mode(Mode.DARK)


def test_many_tabs_share_one_cross_and_are_measured_once(
    theme: Theme, action: QAction, qtbot: Any
) -> None:
    tabs = ObjectTabs(theme, action)
    qtbot.addWidget(tabs)
    tabs.show()
    pages = [QWidget() for _ in range(120)]
    for number, page in enumerate(pages):
        tabs.add_page(page, f"Note {number}", "", "file-text")
    bar = tabs.tabBar()
    assert isinstance(bar, TabBar)
    for number in range(0, 120, 7):
        tabs.rename_page(pages[number], f"Other {number}")
    # Each once, and those that had a cross of their own once more.
    assert bar.measured <= 120 + 50
    crosses = [one for one in bar.findChildren(QToolButton) if one.isVisible() and one.toolTip()]
    assert len(crosses) == 1
    tabs.setCurrentIndex(50)
    assert bar.tabRect(50).contains(crosses[0].geometry())
    with qtbot.waitSignal(tabs.close_asked) as signal:
        crosses[0].click()
    assert signal.args == [pages[50]]
    for page in pages[20:]:
        tabs.remove_page(page)
    side = bar.ButtonPosition.RightSide
    assert all(bar.tabButton(index, side) is not None for index in range(20))
    assert not crosses[0].isVisible()


def test_an_error_card_says_it_in_words_that_can_be_copied(theme: Theme, qtbot: Any) -> None:
    card = ErrorCard(theme, "It is broken", "Ask for the file again.", "line 3: <b>x</b>")
    qtbot.addWidget(card)
    assert card.accessibleName() == "It is broken. Ask for the file again."
    code = card.findChildren(QLabel)[-1]
    assert code.text() == "line 3: <b>x</b>"
    assert code.textFormat() is Qt.TextFormat.PlainText
    assert code.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    theme.set_mode(Mode.DARK)


def test_a_notice_floats_within_the_window_and_goes_with_a_click(theme: Theme, qtbot: Any) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(500, 300)
    window.show()
    notice = Notice(theme, window)
    assert not notice.isVisible()
    notice.say("Done. " * 40)
    assert window.rect().contains(notice.geometry())
    window.resize(800, 300)
    qtbot.waitUntil(lambda: abs(notice.geometry().center().x() - 400) <= 1)
    qtbot.mouseClick(notice, Qt.MouseButton.LeftButton)
    assert not notice.isVisible()


def test_the_top_bar_triggers_its_actions(theme: Theme, qtbot: Any) -> None:
    side, palette, switch, save = (QAction(title) for title in ("Side", "Search", "Theme", "Save"))
    bar = TopBar(theme, side, palette, save, [], switch)
    qtbot.addWidget(bar)
    bar.show()
    for action, name in ((side, "Side"), (palette, "Search"), (switch, "Theme")):
        kinds = (QToolButton, QPushButton)
        all_buttons = [b for kind in kinds for b in bar.findChildren(kind)]
        button = next(b for b in all_buttons if b.accessibleName() == name)
        with qtbot.waitSignal(action.triggered):
            button.click()
    theme.set_mode(Mode.DARK)
