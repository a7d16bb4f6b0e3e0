"""The samples: each opens at both desks, and both see what the two people have made."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from app.gallery import Gallery
from app.samples.drawing import terrace_png
from app.samples.samples import sample_of
from tests.app.conftest import MakePlace
from widgets.image.decoding import decode_picture
from widgets.kinds import KINDS
from widgets.roles import Mode

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PATIENCE_S = 20.0


@pytest.fixture
def gallery(qapp: QApplication) -> Iterator[Gallery]:
    gallery = Gallery(qapp, Mode.LIGHT)
    yield gallery
    gallery.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.mark.parametrize("word", [kind.word for kind in KINDS])
def test_both_people_see_the_whole_sample(word: str, gallery: Gallery, qapp: QApplication) -> None:
    gallery.show([KINDS[word]])
    is_whole = sample_of(word).is_whole
    until = time.monotonic() + PATIENCE_S
    views = gallery.views()
    assert len(views) == 2
    for view in views:
        while not is_whole(view.describe()) and time.monotonic() < until:
            qapp.processEvents()
        assert is_whole(view.describe()), view.describe()


@pytest.mark.parametrize("word", [kind.word for kind in KINDS])
def test_an_empty_object_is_not_taken_for_the_whole_sample(
    word: str, make_place: MakePlace
) -> None:
    ada = make_place("Ada")
    assert ada.run(f"{word}.new")
    assert ada.window.front is not None
    assert not sample_of(word).is_whole(ada.window.front.view.describe())


def test_a_sample_that_is_missing_is_named_with_its_file() -> None:
    with pytest.raises(
        LookupError, match=r"'tea-pot' has no sample: .* in app/samples/tea_pot\.py"
    ):
        sample_of("tea-pot")
    with pytest.raises(LookupError, match="'drawing' has no sample"):
        sample_of("drawing")


def test_the_drawing_is_small_enough_to_lie_in_a_document() -> None:
    drawn = decode_picture(terrace_png(480))
    assert not drawn.isNull()
    assert (drawn.width(), drawn.height()) == (480, 300)
    assert drawn != QImage(drawn.size(), drawn.format())
    assert len(terrace_png()) < 100_000
