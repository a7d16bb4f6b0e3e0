"""Paragraphs that are still to be laid out are known by their numbers, whatever comes and goes."""

from __future__ import annotations

import random

import pytest

from widgets.stale_blocks import FEW_MAX, StaleBlocks


def fresh(count: int) -> StaleBlocks:
    """Of a text in which everything is laid out."""
    stale = StaleBlocks()
    stale.add_all(count)
    stale.rest = count
    return stale


def test_single_ones_are_few_until_they_are_many() -> None:
    stale = fresh(10_000)
    assert not stale
    for number in range(5000, 5000 + FEW_MAX):
        stale.add(number, 10_000)
    assert stale
    assert (len(stale.few()), stale.rest) == (FEW_MAX, 10_000)
    stale.add(4000, 10_000)
    assert (stale.few(), stale.rest) == ([], 4000)


def test_a_count_that_nobody_explains_makes_everything_stale() -> None:
    stale = fresh(10)
    stale.set_count(10)
    assert not stale
    stale.set_count(12)
    assert stale.rest == 0


@pytest.mark.parametrize("seed", range(20))
def test_numbers_follow_paragraphs_that_come_and_go_before_them(seed: int) -> None:
    dice = random.Random(seed)
    paragraphs = [False] * 200  # whether each is stale
    stale = fresh(200)
    for _ in range(60):
        at = dice.randrange(len(paragraphs))
        come = dice.choice((0, 0, 1, 3))
        go = min(dice.choice((0, 0, 1, 4)), len(paragraphs) - at - 1)
        if come and go:
            go = 0
        paragraphs[at : at + 1 + go] = [True] * (1 + come)
        for number in range(at, at + 1 + come):
            stale.add(number, len(paragraphs))
        known = [number for number, each in enumerate(paragraphs) if each]
        assert stale.few() == known
        if dice.random() < 0.3:
            done = dice.choice(known)
            paragraphs[done] = False
            stale.remove(done)
