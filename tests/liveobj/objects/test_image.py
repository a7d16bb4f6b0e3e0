"""Images: small ones in the document, large ones from whoever has them, marks, junk."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.capabilities import view_only
from liveobj.documents import DocumentError
from liveobj.objects.image import (
    INLINE_BYTES_MAX,
    PICTURE_BYTES_MAX,
    Image,
    Mark,
    new_image,
    open_image,
    read_mark,
    read_picture,
)
from tests.liveobj.support import LocalOffice

IMAGE = new_image("Plan", random.Random(6).randbytes)
SMALL = b"small picture"
LARGE = random.Random(7).randbytes(INLINE_BYTES_MAX + 1)
ARROW = Mark("arrow", ((0.1, 0.2), (0.5, 0.5)), "#336699", 0.01)


Office = LocalOffice[Image]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return LocalOffice(tmp_path, IMAGE, open_image)


@pytest.mark.parametrize("data", [SMALL, LARGE])
def test_a_picture_comes_to_everybody_and_to_who_comes_later(office: Office, data: bytes) -> None:
    ada, jun = office.open(1), office.open(2)
    office.settle()
    ada.show(data, "/some/where/plan.png")
    office.settle()
    assert jun.data() == data
    assert jun.now is not None
    assert jun.now.name == "plan.png"
    ada.close()
    late = office.open(3, view_only(IMAGE))
    office.settle()
    assert late.data() == data
    jun.close()
    again = office.open(2)
    assert again.data() == data, "it is on this disk"


def test_marks_are_drawn_erased_and_undone(office: Office) -> None:
    ada, jun = office.open(1), office.open(2)
    ada.show(SMALL)
    mark = ada.draw(ARROW)
    office.settle()
    assert jun.drawn() == {mark: ARROW}
    jun.erase([mark])
    office.settle()
    assert ada.drawn() == {}
    jun.document.undo()
    office.settle()
    ada.show(LARGE)
    office.settle()
    assert jun.drawn() == {}
    ada.document.undo()
    assert ada.data() == SMALL
    assert list(ada.drawn().values()) == [ARROW]
    ada.rotate()
    office.settle()
    assert jun.turn == 1


def test_bounds(office: Office) -> None:
    ada = office.open(1)
    for data in (b"", bytes(PICTURE_BYTES_MAX + 1)):
        with pytest.raises(DocumentError):
            ada.show(data)
    with pytest.raises(DocumentError):
        ada.draw(Mark("pen", ((0.0, 0.0),), "", 0.1))
    assert ada.now is None


def test_bytes_that_are_not_what_they_are_called_are_not_shown(office: Office) -> None:
    ada = office.open(1)
    ada.show(SMALL)
    assert ada.now is not None
    ada.inline.set(ada.now.content, b"something else")
    assert ada.data() is None


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
FIELDS = ["content", "size", "name", "shape", "points", "colour", "width"]
VALUES = PLAIN | st.sampled_from(["pen", "a" * 64, [0.1, 0.2, 0.3, 0.4], 0.01])


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES) | PLAIN)
def test_whatever_is_in_the_document_is_sane_or_nothing(value: Any) -> None:
    picture, mark = read_picture(value), read_mark(value)
    assert picture is None or 0 < picture.size <= PICTURE_BYTES_MAX
    if mark is not None:
        assert all(-1 <= number <= 2 for point in mark.points for number in point)
        assert 0 < mark.width <= 0.1


def test_junk_in_every_map_is_passed_over(office: Office) -> None:
    ada = office.open(1)
    for container in (ada.picture, ada.inline, ada.marks):
        for key in ("now", "turn", "x"):
            container.set(key, {"content": 5, "points": ["a"], "shape": "pen"})
    assert ada.now is None
    assert ada.data() is None
    assert ada.turn == 0
    assert ada.drawn() == {}
    ada.show(SMALL)
    assert ada.data() == SMALL
