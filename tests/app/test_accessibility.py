"""Everything has a name and can be reached with the keyboard: the window, its pages, every kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)

from liveobj.objects.catalogue import MAKERS
from liveobj.objects.text_note import new_note
from tests.app.conftest import MakePlace, Place
from widgets.kinds import KINDS
from widgets.office_network_page import OfficeNetworkPage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CONTROLS = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
)


def controls(window: QWidget) -> list[QWidget]:
    """What one can do something with, as it is seen now; parts of other controls are left out."""
    found = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or isinstance(widget, QScrollBar):
            continue
        inner = isinstance(
            widget.parentWidget(), (QAbstractItemView, QComboBox, QAbstractSpinBox, QTabBar)
        )
        focusable = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if (isinstance(widget, CONTROLS) or focusable) and not (inner and not focusable):
            found.append(widget)
    return found


def name_of(widget: QWidget) -> str:
    if widget.accessibleName():
        return widget.accessibleName()
    text = getattr(widget, "text", None)
    if isinstance(widget, QAbstractButton) and callable(text):
        return str(text()).strip()
    # Scroll areas and item views inside a named widget are read by their contents.
    proxied = [w for w in (widget.focusProxy(), widget.parentWidget()) if w is not None]
    return next((w.accessibleName() for w in proxied if w.accessibleName()), "")


def described(widget: QWidget) -> str:
    chain, at = [], widget
    while at is not None and len(chain) < 5:
        chain.append(type(at).__name__)
        at = at.parentWidget()
    return " in ".join(chain)


def nameless(window: QWidget) -> list[str]:
    return [described(widget) for widget in controls(window) if not name_of(widget)]


def unreachable(window: QWidget) -> list[str]:
    """Those that take the focus by Tab, but that no number of Tabs reaches."""
    wanted = {
        widget
        for widget in controls(window)
        if widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
    }
    seen: set[QWidget] = set()
    for _ in range(3 * len(wanted) + 20):
        window.focusNextChild()
        focused = QApplication.focusWidget()
        if focused is not None:
            seen.add(focused)
    # Of buttons of which one is chosen, Tab reaches that one, and arrows the others.
    groups = {widget.group() for widget in seen if isinstance(widget, QAbstractButton)} - {None}
    lost = [
        w for w in wanted - seen if not isinstance(w, QAbstractButton) or w.group() not in groups
    ]
    return [described(widget) for widget in lost]


def show_home(_place: Place) -> None:
    """As it starts."""


def show_settings(place: Place) -> None:
    place.run("settings.open")


def show_network(place: Place) -> None:
    place.run("network.open")


def show_code_to_compare(place: Place) -> None:
    place.run("network.open")
    page = place.window.front_page
    assert isinstance(page, OfficeNetworkPage)
    page.show_code("Jun wants to join Office.", "123 456")


def show_welcome(place: Place) -> None:
    place.desk.choices.welcome()


def show_preview(place: Place) -> None:
    place.session.trust._facts.clear()
    place.desk.objects.receive(new_note("Foreign", os.urandom))


def show_card(place: Place) -> None:
    place.desk.objects._go_live(MAKERS["sensor"]("Heat", os.urandom), None)


def show_failure(place: Place) -> None:
    place.window.show_failure("It is broken", "Ask for it again.", "line 5")


PAGES = [
    show_home,
    show_settings,
    show_network,
    show_code_to_compare,
    show_welcome,
    show_preview,
    show_card,
    show_failure,
]


def check(place: Place, qtbot: Any) -> None:
    window = place.window
    with qtbot.waitActive(window):
        window.activateWindow()
    qtbot.wait(30)
    assert nameless(window) == []
    assert unreachable(window) == []


@pytest.mark.parametrize("show", PAGES, ids=lambda show: show.__name__)
def test_every_page_can_be_read_and_walked(
    make_place: MakePlace, qtbot: Any, show: Callable[[Place], None]
) -> None:
    place = make_place("Ada")
    show(place)
    check(place, qtbot)


@pytest.mark.parametrize("word", [kind.word for kind in KINDS])
def test_every_kind_can_be_read_and_walked(make_place: MakePlace, qtbot: Any, word: str) -> None:
    place = make_place("Ada")
    assert place.run(f"{word}.new")
    check(place, qtbot)


def test_a_nameless_and_a_lost_control_would_be_noticed(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    from PySide6.QtWidgets import QToolButton

    button = QToolButton(place.window)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.show()
    assert nameless(place.window) == ["QToolButton in MainWindow"]


def test_f6_goes_round_the_parts_of_the_window(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.run("note.new")
    window = place.window
    with qtbot.waitActive(window):
        window.activateWindow()
    place.editor.setFocus()
    names = []
    for _ in range(3):
        place.run("view.part")
        focused = QApplication.focusWidget()
        assert focused is not None
        names.append(focused.accessibleName())
    assert names[:2] == ["Home", "Search or command"]
    assert QApplication.focusWidget() is place.editor
