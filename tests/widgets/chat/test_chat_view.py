"""The view of a chat, with two people and real keys."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication

from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub
from tests.widgets.pair import Pair, show_view_only, view_of
from widgets.chat.chat_model import PAGE_ROWS
from widgets.roles import Mode

JUNK: list[Any] = [
    None,
    True,
    3.5,
    b"\xff",
    [1, [2]],
    {"text": 5},
    {"author": "x"},
    {"author": 7, "text": "x"},
    {"author": "x", "text": "<b>no markup</b>", "at": "soon", "name": 4, "colour": [1], "to": 9},
    {"author": "x", "text": "\x00\u2028\ud83d\ude00", "at": -5, "name": "\n\t", "colour": "red"},
]


@pytest.fixture
def pair(make_place: MakePlace, hub: MemoryHub) -> Pair:
    return Pair(make_place, hub, "chat")


def write(qtbot: Any, view: Any, text: str) -> None:
    qtbot.keyClicks(view.composer, text)
    qtbot.keyClick(view.composer, Qt.Key.Key_Return)


def test_an_empty_chat_says_what_it_is_for(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    assert ada._silence.isVisible()
    assert not ada.list.isVisible()
    write(qtbot, ada, "hello")
    pair.settle()
    for view in (ada, jun):
        assert view.list.isVisible()
        assert not view._silence.isVisible()


def texts(view: Any) -> list[str]:
    return [message["text"] for message in view.describe()["messages"]]


def test_two_people_talk_and_each_sees_who_said_what(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    write(qtbot, ada, "Lunch at noon?")
    assert texts(ada) == ["Lunch at noon?"]
    assert ada.composer.text == ""
    pair.settle()
    write(qtbot, jun, "Yes")
    write(qtbot, jun, "On the terrace")
    pair.settle()
    assert texts(ada) == texts(jun) == ["Lunch at noon?", "Yes", "On the terrace"]
    assert [message["name"] for message in ada.describe()["messages"]] == ["Ada", "Jun", "Jun"]
    rows = [ada.model.row(number) for number in range(3)]
    assert [row.starts_group for row in rows] == [True, True, False]
    assert [row.mine for row in rows] == [True, False, False]


def test_shift_enter_breaks_the_line_and_nothing_is_not_sent(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    qtbot.keyClick(ada.composer, Qt.Key.Key_Return)
    qtbot.keyClicks(ada.composer, "one")
    qtbot.keyClick(ada.composer, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(ada.composer, "two")
    qtbot.keyClick(ada.composer, Qt.Key.Key_Return)
    assert texts(ada) == ["one\ntwo"]


def test_up_edits_ones_last_message_and_escape_leaves_it(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    write(qtbot, ada, "helo")
    qtbot.keyClick(ada.composer, Qt.Key.Key_Up)
    assert ada.composer.text == "helo"
    qtbot.keyClick(ada.composer, Qt.Key.Key_Escape)
    assert ada.composer.text == ""
    qtbot.keyClick(ada.composer, Qt.Key.Key_Up)
    ada.composer.selectAll()
    write(qtbot, ada, "hello")
    pair.settle()
    assert jun.describe()["messages"] == [{"name": "Ada", "text": "hello", "edited": True}]


def test_a_deleted_message_is_seen_to_have_been_and_comes_back_by_undo(
    pair: Pair, qtbot: Any
) -> None:
    ada, jun = pair.views
    write(qtbot, ada, "secret")
    pair.settle()
    jun.list.setCurrentIndex(jun.model.index(0))
    assert not pair.jun.run("chat.delete")
    ada.list.setCurrentIndex(ada.model.index(0))
    assert pair.ada.run("chat.delete")
    pair.settle()
    assert texts(jun) == ["This message was deleted"]
    pair.ada.run("edit.undo")
    pair.settle()
    assert texts(jun) == texts(ada) == ["secret"]


def test_a_reply_names_what_it_answers(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    write(qtbot, ada, "Who has the key?")
    pair.settle()
    jun.list.setCurrentIndex(jun.model.index(0))
    assert pair.jun.run("chat.reply")
    write(qtbot, jun, "Me")
    pair.settle()
    assert ada.describe()["messages"][1]["reply_to"] == "Who has the key?"
    assert pair.jun.run("chat.copy")
    assert QGuiApplication.clipboard().text() == "Who has the key?"


def test_one_sees_who_is_writing(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    qtbot.keyClicks(ada.composer, "hm")
    pair.settle()
    assert jun.describe()["typing"] == ["Ada"]
    write(qtbot, ada, "")
    pair.settle()
    assert jun.describe()["typing"] == []


def test_tab_completes_a_name(pair: Pair, qtbot: Any) -> None:
    ada, _ = pair.views
    qtbot.keyClicks(ada.composer, "ask @ju")
    qtbot.keyClick(ada.composer, Qt.Key.Key_Tab)
    assert ada.composer.text == "ask @Jun "


def test_what_came_while_one_was_elsewhere_is_below_a_line(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    write(qtbot, ada, "one")
    pair.settle()
    jun.mark_read()
    pair.jun.run("object.close")
    write(qtbot, ada, "two")
    write(qtbot, ada, "three")
    page = pair.ada.window.front
    assert page is not None
    pair.jun.desk.open_file(page.opened.file)
    pair.settle()
    jun = view_of(pair.jun)
    assert jun.describe()["unread"] == 2
    assert [jun.model.row(n).first_unread for n in range(3)] == [False, True, False]
    assert pair.jun.run("chat.read")
    assert jun.describe()["unread"] == 0


def test_a_link_is_opened_by_a_click_and_nothing_else_is(
    pair: Pair, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    ada, _ = pair.views
    write(qtbot, ada, "https://example.org/menu and file:///etc/passwd")
    QApplication.processEvents()
    area = ada.list.visualRect(ada.model.index(0))
    qtbot.mouseClick(
        ada.list.viewport(),
        Qt.MouseButton.LeftButton,
        pos=QPoint(80, area.bottom() - 10),
    )
    assert opened == ["https://example.org/menu"]
    qtbot.mouseClick(
        ada.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, area.bottom() - 10)
    )
    ada.open_link("javascript:alert(1)")
    ada.open_link("file:///etc/passwd")
    assert opened == ["https://example.org/menu"]


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_junk_in_the_document_is_passed_over_and_stays(pair: Pair, qtbot: Any, mode: Mode) -> None:
    ada, jun = pair.views
    pair.ada.window.theme.set_mode(mode)
    messages = jun.chat.messages
    with jun.chat.document.transaction():
        for number, value in enumerate(JUNK):
            messages.set(f"junk{number}", value)
    write(qtbot, jun, "hello")
    pair.settle()
    assert "hello" in texts(ada)
    assert "<b>no markup</b>" in texts(ada)
    assert not pair.ada.window.grab().isNull()
    assert len(ada.chat.messages) == len(JUNK) + 1
    messages.remove("junk8")
    messages.remove(next(m.identity for m in jun.chat.all() if m.text == "hello"))
    pair.settle()
    assert "hello" not in texts(ada)


def test_thousands_of_messages_stay_fluid(pair: Pair) -> None:
    ada, jun = pair.views
    count = 5000
    with jun.chat.document.transaction(undoable=False):
        for number in range(count):
            jun.chat.messages.set(
                f"m{number:05}", {"author": "x", "name": "Mia", "at": number, "text": f"{number}"}
            )
    pair.settle()
    assert ada.describe()["count"] == count
    page = pair.ada.window.front
    assert page is not None
    file = page.opened.file
    pair.ada.run("object.close")
    assert pair.ada.desk.open_file(file)
    ada = view_of(pair.ada)
    QApplication.processEvents()
    assert ada.model.rowCount() == PAGE_ROWS, "it opens with a page, not with everything"
    bar = ada.list.verticalScrollBar()
    assert bar.value() == bar.maximum()
    bar.setValue(0)
    QApplication.processEvents()
    assert ada.model.rowCount() == 2 * PAGE_ROWS
    assert bar.value() > 0, "what was in sight has stayed there"


def test_who_may_only_look_sees_a_field_that_says_so(
    make_place: MakePlace, hub: MemoryHub, qtbot: Any
) -> None:
    pair = Pair(make_place, hub, "chat")
    write(qtbot, pair.views[0], "hello")
    page = pair.ada.window.front
    assert page is not None
    mia = make_place("Mia")
    show_view_only(mia, page.opened.opening.reference)
    pair.settle()
    view = view_of(mia)
    view.show_newest()
    assert texts(view) == ["hello"]
    assert not view.composer.isEnabled()
    view.list.setCurrentIndex(view.model.index(0))
    assert not mia.run("chat.reply")
    assert mia.run("chat.copy")
