"""What a view has still to show: places on both sides, and edits of one's own in between."""

from __future__ import annotations

import random

import pytest

from liveobj.documents.text import TextStep, apply_steps, utf16_length
from widgets.backlog import Backlog
from widgets.unit_rope import UnitRope


def test_places_are_found_on_both_sides() -> None:
    backlog = Backlog()
    backlog.add(
        [TextStep(retain=2), TextStep(insert="abc"), TextStep(retain=3), TextStep(delete=4)]
    )
    assert [backlog.to_text(place) for place in (0, 2, 3, 5, 9, 12)] == [0, 2, 6, 8, 8, 11]
    assert [backlog.to_view(place) for place in (0, 2, 3, 6, 8, 11)] == [0, 2, 2, 3, 5, 12]


def test_an_edit_where_something_waits_is_not_taken() -> None:
    backlog = Backlog()
    backlog.add([TextStep(retain=2), TextStep(delete=4)])
    before = backlog.steps()
    assert backlog.take_edit(1, 3, 0) is None
    assert backlog.steps() == before
    assert backlog.take_edit(0, 1, 0) == 0
    assert backlog.steps() == (TextStep(retain=1), TextStep(delete=4))


def test_what_changes_nothing_is_nothing() -> None:
    backlog = Backlog()
    backlog.add([TextStep(retain=2), TextStep(insert="a")])
    backlog.add([TextStep(retain=2), TextStep(delete=1)])
    assert not backlog


@pytest.mark.parametrize("seed", range(30))
def test_view_and_text_come_together_whoever_edits(seed: int) -> None:
    dice = random.Random(seed)
    view = text = "".join(dice.choices("abcdefghij😀\n", k=400))
    backlog = Backlog()
    taken = 0
    for _ in range(150):
        size = utf16_length(text if dice.random() < 0.6 else view)
        at, removed, added = dice.randrange(size + 1), dice.choice((0, 0, 1, 5)), dice.choice("xy")
        if dice.random() < 0.6:
            steps = _edit(text, at, removed, added)
            backlog.add(steps)
            text = apply_steps(text, steps)
            continue
        steps = _edit(view, at, removed, added)
        removed = sum(step.delete for step in steps)
        start = sum(step.retain for step in steps)
        where = backlog.take_edit(start, removed, 1)
        if where is None:
            assert backlog.waits_between(start, start + removed)
            continue
        taken += 1
        view = apply_steps(view, steps)
        text = apply_steps(text, _edit(text, where, removed, added))
        assert apply_steps(view, backlog.steps()) == text
    assert taken > 5
    assert apply_steps(view, backlog.steps()) == text


def _edit(text: str, at: int, removed: int, added: str) -> list[TextStep]:
    """One edit as steps, between characters."""
    units = text.encode("utf-16-le")
    head = units[: 2 * at].decode("utf-16-le", "ignore")
    tail = units[2 * (at + removed) :].decode("utf-16-le", "ignore")
    start = utf16_length(head)
    gone = len(units) // 2 - start - utf16_length(tail)
    steps = [TextStep(retain=start), TextStep(delete=gone), TextStep(insert=added)]
    return [step for step in steps if step != TextStep()]


@pytest.mark.parametrize("seed", range(10))
def test_a_rope_is_what_a_plain_string_would_be(seed: int) -> None:
    dice = random.Random(seed)
    rope, plain = UnitRope(), bytearray()
    for _ in range(300):
        at = dice.randint(0, len(plain) // 2)
        removed = dice.choice((0, 1, 40, 9000)) if dice.random() < 0.5 else 0
        units = dice.randbytes(2 * dice.choice((0, 1, 50, 12_000)))
        rope.replace(at, removed, units)
        plain[2 * at : 2 * (at + removed)] = units
        start, count = dice.randint(0, len(plain) // 2), dice.choice((1, 500, 30_000))
        assert rope.read(start, count) == plain[2 * start : 2 * (start + count)]
        assert rope.length == len(plain) // 2
    assert rope.all() == plain
