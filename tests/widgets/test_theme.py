"""Colours hold their contrast, themes switch while running, icons follow."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QToolButton

import assets
import widgets
from widgets import icons
from widgets.roles import (
    DARK,
    LIGHT,
    PERSON_COLOURS,
    Mode,
    Roles,
    channels,
    contrast,
    nearest_person_colour,
    person_colour_for,
)
from widgets.theme import Theme

THEMES = pytest.mark.parametrize("roles", [LIGHT, DARK], ids=["light", "dark"])


def tones(roles: Roles) -> list[str]:
    return [person.dark if roles is DARK else person.light for person in PERSON_COLOURS]


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@THEMES
def test_text_can_be_read_on_every_ground(roles: Roles) -> None:
    for ground in (roles.surface, roles.raised, roles.sunken, roles.hover):
        for ink in (roles.text, roles.muted, roles.good, roles.warning, roles.danger, roles.accent):
            assert contrast(ink, ground) >= 4.5, (ink, ground)
    assert contrast(roles.text, roles.selection) >= 7
    assert contrast(roles.on_accent, roles.accent) >= 4.5
    assert contrast(roles.on_accent, roles.accent_hover) >= 4.5


@THEMES
def test_twelve_person_colours_hold_on_every_ground(roles: Roles) -> None:
    assert len(set(tones(roles))) == 12
    for ground in (roles.surface, roles.raised, roles.sunken):
        for tone in tones(roles):
            assert contrast(tone, ground) >= 4.5, (tone, ground)


# How reds and greens fall together for those who lack one kind of cone: Machado and others 2009,
# severity 1, on linear light.
_PROTAN = (
    (0.152286, 1.052583, -0.204868),
    (0.114503, 0.786281, 0.099216),
    (-0.003882, -0.048116, 1.051998),
)
_DEUTAN = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)
_NORMAL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def perceived(colour: str, eye: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """The colour in the even-stepped space OKLab, seen through that eye."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in channels(colour))
    ]
    red, green, blue = (
        max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))) for row in eye
    )
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


@THEMES
@pytest.mark.parametrize("eye", [_NORMAL, _PROTAN, _DEUTAN], ids=["all", "protan", "deutan"])
def test_person_colours_differ_for_every_eye(
    roles: Roles, eye: tuple[tuple[float, ...], ...]
) -> None:
    seen = [perceived(tone, eye) for tone in tones(roles)]
    closest = min(math.dist(one, other) for one, other in itertools.combinations(seen, 2))
    assert closest > 0.04  # about twice what is just noticeable


def test_a_colour_from_the_network_becomes_the_nearest_of_ours() -> None:
    for person in PERSON_COLOURS:
        assert nearest_person_colour(person.light) is person
        assert nearest_person_colour(person.light.lower()) is person
    for rubbish in ("", "red", "#12", "#zzzzzz", "#1234567"):
        assert nearest_person_colour(rubbish) in PERSON_COLOURS


def test_a_name_keeps_its_colour() -> None:
    assert person_colour_for("Ada") is person_colour_for("Ada")


def test_modes_switch_while_running(qapp: QApplication) -> None:
    theme = Theme(qapp, Mode.LIGHT)
    seen: list[bool] = []
    theme.changed.connect(lambda: seen.append(theme.dark))
    theme.set_mode(Mode.DARK)
    assert theme.roles is DARK
    assert DARK.surface in qapp.styleSheet()
    theme.set_mode(Mode.LIGHT)
    assert theme.colour("surface").name().upper() == LIGHT.surface
    assert seen == [True, False]


def test_the_system_is_followed_only_when_wanted(qapp: QApplication) -> None:
    theme = Theme(qapp, Mode.SYSTEM)
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.dark
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert not theme.dark
    theme.set_mode(Mode.LIGHT)
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert not theme.dark


@THEMES
def test_a_person_is_shown_in_the_tone_of_the_theme(qapp: QApplication, roles: Roles) -> None:
    theme = Theme(qapp, Mode.DARK if roles is DARK else Mode.LIGHT)
    shown = [theme.person_colour(person.light).name().upper() for person in PERSON_COLOURS]
    assert shown == tones(roles)
    theme.set_mode(Mode.LIGHT)


def nearly(shown: QColor, wanted: str) -> bool:
    return all(
        abs(a - b) <= 2 for a, b in zip(channels(shown.name()), channels(wanted), strict=True)
    )


def test_an_icon_is_drawn_sharp_in_the_colour_of_its_role(qapp: QApplication) -> None:
    theme = Theme(qapp, Mode.LIGHT)
    button = QToolButton()
    icons.show_icon(button, theme, "plus", "danger")
    for ratio in (1.0, 2.0):
        image = button.icon().pixmap(QSize(20, 20), ratio).toImage()
        assert image.width() == 20 * ratio
        middle = image.pixelColor(image.width() // 2, image.height() // 2)
        assert nearly(middle, LIGHT.danger)
    theme.set_mode(Mode.DARK)
    image = button.icon().pixmap(QSize(20, 20), 1.0).toImage()
    assert nearly(image.pixelColor(10, 10), DARK.danger)
    theme.set_mode(Mode.LIGHT)


@pytest.mark.parametrize(
    "file", sorted((assets.ROOT / "icons").glob("*.svg")), ids=lambda f: f.stem
)
def test_every_icon_is_of_one_line_style_or_our_own(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    assert file.stem == "application" or 'stroke="currentColor"' in source


@pytest.mark.parametrize("file", sorted(assets.ROOT.glob("objects/*.svg")), ids=lambda f: f.stem)
def test_every_drawing_names_roles_not_colours(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    assert "#" not in source
    assert any(f'"{field.name}"' in source for field in fields(Roles))


def test_no_widget_has_a_colour_of_its_own() -> None:
    folder = Path(widgets.__file__).parent
    literals = [
        f"{file.name}:{number}"
        for file in folder.glob("*.py")
        if file.name != "roles.py"
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if _has_colour_literal(line)
    ]
    assert literals == []


def _has_colour_literal(line: str) -> bool:
    code = line.split("  # ", maxsplit=1)[0]
    for position in (i for i, char in enumerate(code) if char == "#"):
        digits = code[position + 1 : position + 7]
        if len(digits) >= 3 and all(digit in "0123456789abcdefABCDEF" for digit in digits[:3]):
            return True
    return False
