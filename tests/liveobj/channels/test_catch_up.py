"""Who sends what to whom after a view change."""

from __future__ import annotations

from liveobj.channels.catch_up import (
    PATIENCE_S,
    SILENT_AFTER_S,
    TRANSFER_S_MAX,
    CatchUp,
    delay_of,
)
from liveobj.channels.claims import ASK_DELAY_S, ASK_DELAY_S_MAX, ASKS_MAX, Claims
from liveobj.channels.greeting_limit import GREETINGS_AT_ONCE, GreetingLimit
from liveobj.documents.version import Span, Version
from tests.liveobj.support import Clock

# Nodes write under ten times their number; 99 wrote once and is gone.
GONE = 99


def member(me: int, nodes: list[int], versions: dict[int, Version]) -> CatchUp:
    catch_up = CatchUp(me, Clock().time)
    catch_up.on_view(nodes)
    catch_up.greeted(versions.get(me, Version()), whole=True)
    for node, version in versions.items():
        catch_up.on_hello(node, node * 10, version)
    return catch_up


def test_the_most_senior_who_has_it_answers_for_a_writer_who_is_gone() -> None:
    full, empty = Version({GONE: 5}), Version()
    versions = {1: empty, 2: full, 3: full, 4: empty}
    answers = {
        me: member(me, [1, 2, 3, 4], versions).answers(versions[me], me * 10) for me in versions
    }
    assert answers == {1: [], 2: [Span(GONE, 0, 5)], 3: [], 4: []}


def test_a_writer_sends_its_own() -> None:
    versions = {1: Version({20: 3}), 2: Version({20: 7}), 3: Version()}
    answers = {
        me: member(me, [1, 2, 3], versions).answers(versions[me], me * 10) for me in versions
    }
    assert answers == {1: [], 2: [Span(20, 0, 7)], 3: []}


def test_one_who_cannot_pass_on_is_passed_over() -> None:
    catch_up = CatchUp(2, Clock().time)
    catch_up.on_view([1, 2, 3])
    catch_up.on_hello(1, 10, Version({GONE: 5}), can_answer=False)
    catch_up.on_hello(3, 30, Version())
    assert catch_up.answers(Version({GONE: 5}), 20) == [Span(GONE, 0, 5)]


def test_nobody_answers_before_those_more_senior_have_greeted() -> None:
    catch_up = CatchUp(2, Clock().time)
    catch_up.on_view([1, 2, 3])
    catch_up.on_hello(3, 30, Version())
    assert catch_up.answers(Version({GONE: 5}), 20) == []
    catch_up.on_hello(1, 10, Version())
    assert catch_up.answers(Version({GONE: 5}), 20) == [Span(GONE, 0, 5)]
    assert catch_up.answers(Version({GONE: 5}), 20) == []


def test_those_who_left_are_no_reason_to_wait() -> None:
    catch_up = CatchUp(2, Clock().time)
    catch_up.on_view([1, 2, 3])
    catch_up.on_hello(3, 30, Version())
    catch_up.on_view([2, 3])
    assert catch_up.answers(Version({GONE: 5}), 20) == [Span(GONE, 0, 5)]


def test_what_several_lack_is_sent_once() -> None:
    catch_up = member(1, [1, 2, 3], {2: Version({GONE: 3}), 3: Version({GONE: 1})})
    assert catch_up.answers(Version({GONE: 5}), 10) == [Span(GONE, 1, 5)]


def test_one_knows_when_others_have_more() -> None:
    catch_up = member(1, [1, 2], {2: Version({GONE: 3})})
    assert catch_up.claims.lacks_something(Version())
    assert not catch_up.claims.lacks_something(Version({GONE: 3}))


class Seen:
    """One member with a clock of its own, which is turned by hand."""

    def __init__(self, me: int, nodes: list[int], mine: Version) -> None:
        self.clock = Clock()
        self.mine = mine
        self.me = me
        self.catch_up = CatchUp(me, self.clock.time)
        self.catch_up.on_view(nodes)
        self.catch_up.greeted(mine, whole=True)

    def hear(self, node: int, version: Version, *, peer: int | None = None) -> None:
        self.catch_up.on_hello(node, node * 10 if peer is None else peer, version)

    def answers(self) -> list[Span]:
        return self.catch_up.answers(self.mine, self.me * 10)

    def wait(self, seconds: float) -> list[Span]:
        self.clock.advance(seconds)
        return self.answers()


ALL = Version({GONE: 5})
SPAN = [Span(GONE, 0, 5)]


def test_a_senior_that_does_not_greet_is_not_waited_for_longer_than_two_seconds() -> None:
    seen = Seen(2, [1, 2, 3], ALL)
    seen.hear(3, Version())
    assert seen.wait(SILENT_AFTER_S - 0.1) == []
    assert seen.catch_up.next_at == 1000 + SILENT_AFTER_S
    assert seen.wait(0.2) == SPAN


def test_the_silent_are_not_waited_for_in_later_views() -> None:
    seen = Seen(2, [1, 2], ALL)
    seen.clock.advance(SILENT_AFTER_S + 1)
    seen.catch_up.on_view([1, 2, 3])
    seen.hear(3, Version())
    assert seen.answers() == SPAN


def test_the_second_sends_when_the_first_has_not() -> None:
    seen = Seen(2, [1, 2, 3], ALL)
    seen.hear(1, ALL)
    seen.hear(3, Version())
    assert seen.wait(PATIENCE_S / 2) == []
    assert seen.wait(PATIENCE_S / 2) == SPAN
    seen.catch_up.on_view([1, 2, 3, 4])
    seen.hear(1, ALL)
    seen.hear(3, ALL)
    seen.hear(4, Version())
    assert seen.answers() == SPAN, "who failed before is not waited for again"


def test_the_second_keeps_quiet_when_it_hears_the_first() -> None:
    seen = Seen(2, [1, 2, 3], ALL)
    seen.hear(1, ALL)
    seen.hear(3, Version())
    seen.catch_up.on_update(1, Version(), ALL)
    assert seen.wait(60) == []


def test_an_answer_that_overtakes_the_question_counts() -> None:
    seen = Seen(2, [1, 2, 3], ALL)
    seen.hear(1, ALL)
    seen.catch_up.on_update(1, Version(), ALL)
    seen.hear(3, Version())
    assert seen.wait(60) == []


def test_parts_of_a_long_answer_are_waited_for_but_not_for_ever() -> None:
    seen = Seen(2, [1, 2, 3], ALL)
    seen.hear(1, ALL)
    seen.hear(3, Version())
    waited = 0.0
    while not seen.answers():
        seen.catch_up.on_piece(1)
        seen.clock.advance(0.5)
        waited += 0.5
    assert waited == TRANSFER_S_MAX + PATIENCE_S


def test_one_whose_answers_are_damaged_is_passed_over_at_once() -> None:
    seen = Seen(2, [1, 2, 3], ALL)
    seen.hear(1, ALL)
    seen.hear(3, Version())
    assert seen.answers() == []
    seen.catch_up.on_damage(1)
    assert seen.answers() == SPAN


def test_who_asks_for_the_same_again_and_again_waits_twice_as_long_each_time() -> None:
    seen = Seen(1, [1, 2], ALL)
    times = []
    for _ in range(2000):
        seen.hear(2, Version())
        if seen.wait(0.1):
            times.append(round(seen.clock.now - 1000))
    assert times == [0, 1, 3, 7, 15, 31, 63, 123, 183]


def test_ranks_wait_for_the_logarithm_of_their_place() -> None:
    assert [delay_of(rank) for rank in range(5)] == [0, 1, 2, 2.5, 3]
    assert delay_of(39) < 6.3
    delays = [delay_of(rank) for rank in range(400)]
    assert delays == sorted(set(delays))


def test_a_claim_that_nobody_makes_good_is_doubted_and_hides_no_other() -> None:
    clock = Clock()
    claims = Claims(clock.time)
    claims.on_version(6, Version({5: 1000}))
    assert claims.lacks_something(Version())
    for _ in range(ASKS_MAX + 1):
        clock.advance(claims.ask_after_s(Version()) or 0)
        assert claims.ask(Version())
    assert not claims.lacks_something(Version())
    assert claims.ask_after_s(Version()) == ASK_DELAY_S_MAX
    claims.on_version(7, ALL)
    assert claims.lacks_something(Version())
    assert claims.ask_after_s(Version()) == ASK_DELAY_S
    claims.on_version(6, Version({5: 1001}))
    claims.keep_only([6])
    assert not claims.lacks_something(Version()), "who was doubted is doubted further"
    assert not claims.lacks_something(Version({5: 1001}))
    claims.on_version(6, Version({5: 1002}))
    assert claims.lacks_something(Version({5: 1001})), "who made it good is believed again"


def test_what_is_on_its_way_is_not_asked_for_again() -> None:
    clock = Clock()
    claims = Claims(clock.time)
    claims.on_version(6, Version({5: 1000}))
    assert claims.ask(Version())
    for end in range(100, 900, 100):
        assert not claims.ask(Version({5: end}))
        assert claims.lacks_something(Version({5: end}))
    assert claims.ask(Version({5: 800}))


def test_greetings_of_one_member_are_limited_and_those_of_others_are_not() -> None:
    clock = Clock()
    limit = GreetingLimit(clock.time)
    limit.on_view([1, 2])
    heard = 0
    for _ in range(1000):
        heard += limit.admit(1)
        clock.advance(0.05)
    assert GREETINGS_AT_ONCE + 45 <= heard <= GREETINGS_AT_ONCE + 51
    assert all(limit.admit(2) for _ in range(int(GREETINGS_AT_ONCE)))
    limit.on_view([1, 2])
    assert limit.admit(1), "after a view everybody greets"
