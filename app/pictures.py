"""Makes the pictures of the documentation, light and dark: two real programs in one note and the
first start, at 2x; a sample of every kind from the gallery, at 1x.

Needs a display, which may be a virtual one, and xdotool to type:

    python installers/virtual_display.py python -m app.pictures assets/pictures
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPainterPath

from app.actor import Actor
from liveobj.objects.text_note import new_note
from liveobj.references import write_reference_file
from widgets.kinds import KINDS
from widgets.roles import DARK, LIGHT, Roles

SCALE = 2
WINDOW_SIZE = (744, 512)
HOME_SIZE = (1000, 660)
# Narrow enough for the side to fold, which leaves the room to the object; some need more.
KIND_SIZE = "800x600"
LARGE_KINDS = {"desktop": "1160x760", "document": "1000x750"}
_MARGIN = 40
_CORNER = 10
# How far the second window is to the right of the first and below it: nothing is hidden.
_STEP = (WINDOW_SIZE[0] + 20, 56)
_SHADOW_PX = 28
# After this long nothing moves by itself any more.
_STILL_S = 4.0

TITLE = "Team lunch"
FIRST_WORDS = (
    "Friday, noon, on the terrace.\n\n"
    "Bring something to share:\n"
    "- Ada: lemon cake\n"
    "- Jun: pasta salad and "
)
SECOND_WORDS = "\n\nWho has the big table?"
LAST_WORD = "lemonade"


def _actor(folder: Path, name: str, *arguments: str) -> Actor:
    return Actor(folder, name, *arguments, QT_SCALE_FACTOR=str(SCALE))


def take_pair(folder: Path, first_theme: str, second_theme: str) -> tuple[QImage, QImage]:
    """Lets two programs write one note together and takes a picture of each."""
    note = folder / f"{TITLE}.liveobject"
    write_reference_file(new_note(TITLE, os.urandom), note)
    size = f"{WINDOW_SIZE[0]}x{WINDOW_SIZE[1]}"
    first = _actor(
        *(folder / "ada", "Ada Lovelace", "--colour", "raspberry"),
        *("--theme", first_theme, "--size", size, str(note)),
    )
    second = _actor(
        *(folder / "jun", "Jun Sato", "--colour", "ocean"),
        *("--theme", second_theme, "--size", size, str(note)),
    )
    try:
        first.wait_note("is not alone", lambda note: len(note.get("people", [])) == 2)
        first.type(FIRST_WORDS)
        second.wait_note("has the words", lambda note: note.get("text") == FIRST_WORDS)
        second.key("ctrl+End")
        second.type(SECOND_WORDS)
        whole = FIRST_WORDS + SECOND_WORDS
        first.wait_note("has the answer", lambda note: note.get("text") == whole)
        # The first caret has stayed where it was, although there is text behind it now.
        first.type(LAST_WORD)
        place = len(FIRST_WORDS + LAST_WORD)
        second.wait_note("sees the caret", lambda note: place in note.get("carets", {}).values())
        first.wait_saved()
        second.wait_saved()
        return _take(first, folder / "first.png"), _take(second, folder / "second.png")
    finally:
        first.quit()
        second.quit()


def _take(actor: Actor, file: Path) -> QImage:
    actor.take(file)
    return QImage(str(file))


def take_home(folder: Path, theme: str) -> QImage:
    """The first page, as a newcomer sees it."""
    size = f"{HOME_SIZE[0]}x{HOME_SIZE[1]}"
    newcomer = _actor(folder / "new", "Mia", "--theme", theme, "--size", size)
    try:
        newcomer.wait_network()
        return _take(newcomer, folder / "home.png")
    finally:
        newcomer.quit()


def take_tour(folder: Path, theme: str) -> QImage:
    """The table that is made at the first start."""
    size = f"{HOME_SIZE[0]}x{HOME_SIZE[1]}"
    newcomer = _actor(folder / "tour", "Mia", "--theme", theme, "--size", size)
    try:
        newcomer.wait_network()
        newcomer.key("ctrl+k")
        newcomer.type("first look")
        newcomer.key("Return")
        newcomer.wait_note("is on the table", lambda shown: shown.get("kind") == "desktop")
        time.sleep(_STILL_S)
        return _take(newcomer, folder / "tour.png")
    finally:
        newcomer.quit()


def take_kinds(folder: Path, theme: str) -> None:
    """Every kind of object with its sample, each in a picture of its own."""
    command = [sys.executable, "-m", "app.main", "gallery", "--theme", theme]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    for kind in KINDS:
        size = LARGE_KINDS.get(kind.word, KIND_SIZE)
        whole = [*command, kind.word, "--size", size, "--pictures", str(folder)]
        subprocess.run(whole, check=True, env=environment)


def compose(first: QImage, second: QImage, roles: Roles) -> QImage:
    """Both windows on one table, side by side, the second a little lower."""
    first.setDevicePixelRatio(SCALE)
    second.setDevicePixelRatio(SCALE)
    width, height = WINDOW_SIZE
    total_width = 2 * _MARGIN + width + _STEP[0]
    total_height = 2 * _MARGIN + height + _STEP[1]
    result = QImage(total_width * SCALE, total_height * SCALE, QImage.Format.Format_RGB32)
    result.setDevicePixelRatio(SCALE)
    result.fill(QColor(roles.sunken))
    painter = QPainter(result)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _draw_window(painter, first, QPointF(_MARGIN, _MARGIN), roles)
    corner = QPointF(_MARGIN + _STEP[0], _MARGIN + _STEP[1])
    _draw_window(painter, second, corner, roles)
    painter.end()
    return result


def _draw_window(painter: QPainter, image: QImage, corner: QPointF, roles: Roles) -> None:
    frame = QRectF(corner, image.deviceIndependentSize())
    shadow = QColor(roles.shadow)
    painter.setPen(Qt.PenStyle.NoPen)
    for step in range(_SHADOW_PX, 0, -1):
        # Steps near the window count more, so that the shadow has no edge of its own.
        shadow.setAlphaF(0.004 * (1 - step / _SHADOW_PX))
        painter.setBrush(shadow)
        grown = frame.adjusted(-step, -step + 6, step, step + 6)
        painter.drawRoundedRect(grown, _CORNER + step, _CORNER + step)
    shape = QPainterPath()
    shape.addRoundedRect(frame, _CORNER, _CORNER)
    painter.save()
    painter.setClipPath(shape)
    painter.drawImage(corner, image)
    painter.restore()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QColor(roles.border))
    painter.drawPath(shape)


def main() -> int:
    """Writes two windows in one note, the first page, the first desktop, and every kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the pictures")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    QGuiApplication([])
    for name, roles in (("light", LIGHT), ("dark", DARK)):
        with tempfile.TemporaryDirectory() as scratch:
            first, second = take_pair(Path(scratch), name, name)
            compose(first, second, roles).save(str(folder / f"two-windows-{name}.png"))
            take_home(Path(scratch), name).save(str(folder / f"home-{name}.png"))
            take_tour(Path(scratch), name).save(str(folder / f"first-look-{name}.png"))
        take_kinds(folder, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
