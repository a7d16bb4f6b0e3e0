"""The panel to share with: rights, and a QR code where the reference fits into one."""

from __future__ import annotations

import os
from typing import Any

import pytest
import segno
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QWidget

from liveobj.capabilities import can_edit, view_only
from liveobj.objects.text_note import new_note
from liveobj.references import Composite
from widgets.people import Here, OfficePerson
from widgets.qr_code import QrCode
from widgets.share_panel import SharePanel
from widgets.side_rows import PersonRow
from widgets.theme import Theme


@pytest.fixture
def window(qtbot: Any) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    return window


def test_a_note_fits_into_a_qr_code(theme: Theme, window: QWidget) -> None:
    panel = SharePanel(theme, new_note("Small", os.urandom), "Small", "note", window)
    assert panel._code.isVisibleTo(panel)
    image = panel._code.grab().toImage()
    colours = {image.pixelColor(x, 40).lightness() for x in range(image.width())}
    assert {0, 255} <= colours


def test_a_large_reference_does_not_and_says_so(theme: Theme, window: QWidget) -> None:
    parts = {f"part{n}": new_note(f"Part {n}", os.urandom) for n in range(40)}
    panel = SharePanel(theme, Composite(parts), "Large", "note", window)
    assert not panel._code.isVisibleTo(panel)
    assert "too large" in panel._code_words.text()


def test_who_can_only_view_can_only_let_view(theme: Theme, window: QWidget) -> None:
    reference = view_only(new_note("Read", os.urandom))
    panel = SharePanel(theme, reference, "Read", "note", window)
    assert not panel.edit.isEnabled()
    assert panel.view.isChecked()
    assert not can_edit(panel.chosen)


def test_people_near_are_rows_to_press(theme: Theme, window: QWidget, qtbot: Any) -> None:
    panel = SharePanel(theme, new_note("Small", os.urandom), "Small", "note", window)
    assert "Nobody else" in panel._near_words.text()
    jun = OfficePerson(2, "Jun", "#006892", Here.BEHIND)
    panel.show_people([jun])
    panel.show_people([jun])
    rows = [row for row in panel.findChildren(PersonRow) if row.isVisibleTo(panel)]
    with qtbot.waitSignal(panel.hand_asked) as signal:
        rows[-1].click()
    assert signal.args[1] == jun


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_squares_of_a_code_are_alike_whatever_the_screen(
    ratio: float, theme: Theme, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = QrCode()
    qtbot.addWidget(code)
    monkeypatch.setattr(code, "devicePixelRatioF", lambda: ratio)
    text = "live-object:" + "x" * 300
    assert code.show_text(text)
    drawn = QPixmap(code.size() * ratio)
    drawn.setDevicePixelRatio(ratio)
    code.render(drawn)
    image = drawn.toImage()
    dark = [
        [image.pixelColor(x, y).lightness() < 128 for x in range(image.width())]
        for y in range(image.height())
    ]
    wanted = [list(row) for row in segno.make_qr(text, error="l").matrix_iter(border=2)]
    side = image.width() // len(wanted)
    start = (image.width() - side * len(wanted)) // 2
    for y in range(side * len(wanted)):
        row = [bool(value) for value in wanted[y // side] for _ in range(side)]
        assert dark[start + y][start : start + len(row)] == row
