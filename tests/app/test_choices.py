"""The first start and the settings: chosen once, kept, in force at once."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton

from app.settings import load_settings
from liveobj.objects.desktop import Desktop
from tests.app.conftest import MakePlace, Place
from widgets.settings_page import SettingsPage
from widgets.switch import Switch
from widgets.welcome import Swatch, Welcome

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def page(place: Place) -> SettingsPage:
    place.run("settings.open")
    shown = place.window.front_page
    assert isinstance(shown, SettingsPage)
    return shown


def named(page: SettingsPage, name: str) -> Any:
    kinds = (QLineEdit, QComboBox, Switch)
    found = [w for kind in kinds for w in page.findChildren(kind) if w.accessibleName() == name]
    return found[0]


def test_the_first_page_asks_for_name_and_colour(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.settings.change(introduced=False)
    place.desk.choices.welcome()
    welcome = place.window.front_page
    assert isinstance(welcome, Welcome)
    welcome._name.setText("  ")
    assert not welcome._begin.isEnabled()
    qtbot.keyClick(welcome._name, Qt.Key.Key_Return)
    assert not place.settings.now.introduced
    welcome._name.setText(" Ada Lovelace ")
    violet = next(s for s in welcome.findChildren(Swatch) if s.accessibleName() == "violet")
    violet.click()
    welcome._begin.click()
    now = load_settings(place.paths.settings)
    assert (now.name, now.colour, now.introduced) == ("Ada Lovelace", violet.colour.light, True)
    assert place.window.windowTitle() == "Your first desktop – Live Objects"
    front = place.window.front
    assert front is not None
    assert isinstance(front.opened.opening.shared, Desktop)
    assert len(front.opened.opening.shared.items) == 5
    assert not front.view.can_undo


def test_settings_are_searched_changed_and_kept(make_place: MakePlace, qtbot: Any) -> None:
    place = make_place("Ada")
    place.run("note.new")
    settings = page(place)
    assert page(place) is settings
    titles = settings.shown_titles()
    assert {"Your name", "Theme", "Language", "Network", "Telemetry"} <= set(titles)
    qtbot.keyClicks(settings._field, "crash")
    assert settings.shown_titles() == ["Open again what was open"]
    settings._field.setText("zzz")
    assert settings.shown_titles() == []
    settings._field.clear()
    name = named(settings, "Your name")
    name.setText("Countess")
    name.editingFinished.emit()
    name.setText("   ")
    name.editingFinished.emit()
    named(settings, "Open again what was open").click()
    named(settings, "Hide who and where I am").click()
    activity = named(settings, "Log what I open and edit, too")
    assert not place.settings.now.activity_log
    activity.click()
    assert place.settings.now.activity_log
    named(settings, "Keep a log of network events").click()
    assert not activity.isEnabled()
    forget = next(b for b in settings.findChildren(QPushButton) if "Ask again" in b.text())
    forget.click()
    assert not place.session.trust.trusts_others
    assert not forget.isEnabled()
    box = named(settings, "Language")
    box.setCurrentIndex(box.findData("de"))
    theme = named(settings, "Theme")
    theme.setCurrentIndex(theme.findData("dark"))
    now = load_settings(place.paths.settings)
    assert now == place.settings.now
    assert (now.name, now.language, now.theme) == ("Countess", "de", "dark")
    assert (now.restore, now.presence_hidden, now.event_log) == (False, True, False)
    assert place.window.theme.dark
    shared = place.window.object_pages()[0].opened.opening.shared
    assert shared.presence.mine.name == "Countess"
    assert shared.presence.hidden
    place.run("object.close")
    assert page(place) is not settings
