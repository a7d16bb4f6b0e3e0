"""The samples: each opens at both desks, and both see what the two people have made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.gallery import Gallery
from app.samples.drawing import terrace_png
from app.samples.samples import SAMPLES
from widgets.image.decoding import decode_picture
from widgets.kinds import KINDS
from widgets.roles import Mode

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

Shown = dict[str, Any]
PATIENCE_S = 20.0


def of_two(shown: Shown) -> bool:
    return {each["name"] for each in shown["messages"]} == {"Ada Lovelace", "Jun Sato"}


def summed(shown: Shown) -> bool:
    return shown["rows"][-1][:5] == ["Total", "", "201", "195.75", ""]


CONTENT: dict[str, Callable[[Shown], bool]] = {
    "note": lambda shown: "lemonade" in shown["text"] and "Mia asks" in shown["text"],
    "document": lambda shown: (
        {"h1", "h2", "check"} <= {style for style, _ in shown["outline"]}
        and shown["text"].count("\ufffc") == 2
        and "paper cups" in shown["text"]
    ),
    "desktop": lambda shown: len(shown["items"]) == 6,
    "folder": lambda shown: len({each["kind"] for each in shown["entries"]}) == 6,
    "files": lambda shown: [each["versions"] for each in shown["files"]] == [1, 2, 1],
    "chat": of_two,
    "table": summed,
    "chart": lambda shown: shown["shape"] == "bar" and len(shown["labels"]) == 6,
    "image": lambda shown: shown["marks"] == "2 marks" and shown["pixels"] == [960, 600],
}


@pytest.fixture
def gallery(qapp: QApplication) -> Iterator[Gallery]:
    gallery = Gallery(qapp, Mode.LIGHT)
    yield gallery
    gallery.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_every_kind_has_a_sample() -> None:
    words = [kind.word for kind in KINDS]
    assert list(SAMPLES) == words
    assert sorted(CONTENT) == sorted(words)


@pytest.mark.parametrize("word", SAMPLES)
def test_both_people_see_the_whole_sample(word: str, gallery: Gallery, qapp: QApplication) -> None:
    gallery.show([KINDS[word]])
    until = time.monotonic() + PATIENCE_S
    views = gallery.views()
    assert len(views) == 2
    for view in views:
        while not CONTENT[word](view.describe()) and time.monotonic() < until:
            qapp.processEvents()
        assert CONTENT[word](view.describe()), view.describe()


def test_the_drawing_is_small_enough_to_lie_in_a_document() -> None:
    drawn = decode_picture(terrace_png(480))
    assert not drawn.isNull()
    assert (drawn.width(), drawn.height()) == (480, 300)
    assert drawn != QImage(drawn.size(), drawn.format())
    assert len(terrace_png()) < 100_000
