"""The window in little room: no part lies over another, none is squeezed, whatever is open."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QLineEdit,
    QSlider,
    QTabBar,
    QWidget,
)

from tests.app.conftest import MakePlace, Place
from widgets.kinds import KINDS

PARTS = (QAbstractButton, QLabel, QLineEdit, QSlider)
# Bars that are opened over or beside what is in front.
OPENED = {
    "note": ("note.find", "note.history", "note.comments"),
    "document": ("document.find", "document.history", "document.comments"),
}


def is_laid_out(part: QWidget) -> bool:
    """Whether it has its place by a layout; others float, and may lie over something."""
    parent = part.parentWidget()
    return parent is not None and parent.layout() is not None and part.isVisible()


def parts_in(root: QWidget) -> list[QWidget]:
    found = [part for kind in PARTS for part in root.findChildren(kind)]
    return [p for p in found if is_laid_out(p) and not isinstance(p.parentWidget(), QTabBar)]


def words(part: QWidget) -> str:
    said = part.text() if isinstance(part, QAbstractButton | QLabel) else ""
    return f"{type(part).__name__} {part.accessibleName() or said!r} in {part.parentWidget()}"


def is_in_sight(part: QWidget, root: QWidget) -> bool:
    """Whether it is not outside the window; what can be scrolled into sight may be."""
    above = part.parentWidget()
    while above is not None and above is not root:
        if isinstance(above, QAbstractScrollArea):
            return True
        above = above.parentWidget()
    return root.rect().contains(QRect(part.mapTo(root, QPoint(0, 0)), part.size()))


def problems(root: QWidget) -> list[str]:
    """What cannot be seen as it was meant to be."""
    found = []
    by_parent: dict[QWidget, list[QWidget]] = {}
    for part in parts_in(root):
        parent = part.parentWidget()
        assert parent is not None
        by_parent.setdefault(parent, []).append(part)
        if part.width() < part.minimumSizeHint().width():
            found.append(f"{words(part)} has {part.width()} of {part.minimumSizeHint().width()}")
        if not parent.rect().contains(part.geometry()) or not is_in_sight(part, root):
            found.append(f"{words(part)} is cut off")
    for siblings in by_parent.values():
        for one, other in itertools.combinations(siblings, 2):
            is_inside = one.isAncestorOf(other) or other.isAncestorOf(one)
            if not is_inside and one.geometry().intersects(other.geometry()):
                found.append(f"{words(one)} lies over {words(other)}")
    return found


def resize(place: Place, width: int) -> None:
    place.window.resize(width, 400)
    for _ in range(3):
        QApplication.processEvents()


@pytest.mark.parametrize("width", [480, 800])
def test_nothing_overlaps_at_home_and_among_the_settings(make_place: MakePlace, width: int) -> None:
    ada = make_place("Ada")
    resize(ada, width)
    assert ada.window.width() == width
    assert problems(ada.window) == []
    assert ada.run("settings.open")
    resize(ada, width)
    assert problems(ada.window) == []


@pytest.mark.parametrize("word", [kind.word for kind in KINDS])
def test_nothing_overlaps_in_an_object(make_place: MakePlace, word: str) -> None:
    ada = make_place("Ada")
    ada.run(f"{word}.new")
    for width in (480, 600):
        resize(ada, width)
        assert problems(ada.window) == [], width
    for identity in OPENED.get(word, ()):
        for _ in range(2):  # opened and closed again
            assert ada.run(identity)
            resize(ada, 480)
            assert problems(ada.window) == [], identity
