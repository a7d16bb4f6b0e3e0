"""Catching up depends on no single member, whatever it does and whenever it came."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from liveobj.channels.messages import Update
from tests.liveobj.channels.bad_members import BEHAVIOURS, Liar, Member, MixedOffice, Silent
from tests.liveobj.channels.member_storm import planted, run_storm


def test_a_silent_viewer_who_came_first_stops_nobody_from_catching_up(tmp_path: Path) -> None:
    office = MixedOffice(tmp_path, 3)
    office.join(Silent, editor=False)
    ada = office.join()
    ada.type("written before. ")
    office.run(5)
    office.join()
    office.until(lambda: office.agree("written before. "), 10)
    ada.type("written after.")
    office.until(lambda: office.agree("written before. written after."), 10)
    office.close()


def test_one_who_greets_and_does_not_answer_stops_nobody_from_catching_up(tmp_path: Path) -> None:
    office = MixedOffice(tmp_path, 4)
    office.join(Liar, editor=False)
    carl = office.join()
    ada = office.join()
    ada.type("all that there is")
    office.until(lambda: office.agree("all that there is"), 10)
    ada.close()
    office.honest.remove(ada)
    office.run(2)
    bob = office.join()
    office.until(lambda: office.agree("all that there is"), 10)
    assert bob.text == carl.text
    office.close()


# So long after the last one came, all honest members have the same.
AGREE_S = 25.0


def catch_up_despite(
    office: MixedOffice, bad: type[Member], place: int, *, editor: bool
) -> tuple[int, float]:
    """Honest members write, the one who wrote most leaves, a newcomer comes; the bad one is at
    `place` in seniority. Returns how many answers that took, and how long."""
    for number in range(4):
        if number == place:
            office.join(bad, editor=editor)
        member = office.join()
        member.type(f"‹{number}›")
    office.until(office.agree, AGREE_S)
    writer = office.honest.pop(1)
    writer.close()
    office.until(office.together)
    answers = sum(member.counters.answers for member in office.honest)
    office.join()
    started = office.simulation.time()
    office.until(office.agree, AGREE_S)
    took = office.simulation.time() - started
    office.honest[0].type("‹after›")
    office.until(office.agree, 10)
    text = office.honest[-1].text
    assert all(text.count(f"‹{mark}›") == 1 for mark in (0, 1, 2, 3, "after")), text
    office.run(60)
    assert not any(member.state.catching_up for member in office.honest)
    return sum(member.counters.answers for member in office.honest) - answers, took


@pytest.mark.parametrize("kind", BEHAVIOURS)
@pytest.mark.parametrize("place", [0, 2, 3])
@pytest.mark.parametrize("editor", [True, False])
def test_honest_members_catch_up_whatever_one_member_does(
    kind: str, place: int, editor: bool, tmp_path: Path
) -> None:
    office = MixedOffice(tmp_path, 6, seed=place + 1)
    answers, _ = catch_up_despite(office, BEHAVIOURS[kind], place, editor=editor)
    # Each of the four writers' spans from one member; a flood costs some more, but not one for each
    # of the more than a thousand greetings.
    assert answers <= (8 if kind != "flooder" else 40)
    office.close()


@pytest.mark.parametrize("seed", range(1, 13))
def test_storm_of_bad_members_harms_no_honest_one(seed: int) -> None:
    """More of them: make swarm, or python -m tests.liveobj.channels.member_storm."""
    assert run_storm(seed) is None


@pytest.mark.parametrize("rule", ["nobody steps in", "impossible claims are believed"])
def test_storms_find_a_rule_that_is_disabled(rule: str) -> None:
    with planted(rule):
        assert any(run_storm(seed) for seed in range(1, 60))


def test_crowd_of_forty_answers_a_newcomer_once(tmp_path: Path) -> None:
    office = MixedOffice(tmp_path, 42)
    office.write_before("‹one›", "‹two›", "‹three›")
    office.join_all(40, kept=True)
    before = sum(member.counters.answers for member in office.members)
    office.join()
    office.until(office.agree, AGREE_S)
    office.run(30)
    assert sum(member.counters.answers for member in office.members) - before == 1
    # And with a liar on top: somebody else steps in, not all of them.
    liar = office.members[0]
    with patch.object(liar, "bend", lambda m: None if isinstance(m, Update) else m):
        office.join()
        office.until(office.agree, AGREE_S)
        office.run(30)
    assert sum(member.counters.answers for member in office.members) - before <= 4
    office.close()
