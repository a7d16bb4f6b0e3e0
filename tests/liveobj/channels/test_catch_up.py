"""Who sends what to whom after a view change."""

from __future__ import annotations

from liveobj.channels.catch_up import CatchUp
from liveobj.documents.version import Span, Version

# Nodes write under ten times their number; 99 wrote once and is gone.
GONE = 99


def member(me: int, nodes: list[int], versions: dict[int, Version]) -> CatchUp:
    catch_up = CatchUp(me)
    catch_up.on_view(nodes)
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
    catch_up = CatchUp(2)
    catch_up.on_view([1, 2, 3])
    catch_up.on_hello(1, 10, Version({GONE: 5}), can_answer=False)
    catch_up.on_hello(3, 30, Version())
    assert catch_up.answers(Version({GONE: 5}), 20) == [Span(GONE, 0, 5)]


def test_nobody_answers_before_those_more_senior_have_greeted() -> None:
    catch_up = CatchUp(2)
    catch_up.on_view([1, 2, 3])
    catch_up.on_hello(3, 30, Version())
    assert catch_up.answers(Version({GONE: 5}), 20) == []
    catch_up.on_hello(1, 10, Version())
    assert catch_up.answers(Version({GONE: 5}), 20) == [Span(GONE, 0, 5)]
    assert catch_up.answers(Version({GONE: 5}), 20) == []


def test_those_who_left_are_no_reason_to_wait() -> None:
    catch_up = CatchUp(2)
    catch_up.on_view([1, 2, 3])
    catch_up.on_hello(3, 30, Version())
    catch_up.on_view([2, 3])
    assert catch_up.answers(Version({GONE: 5}), 20) == [Span(GONE, 0, 5)]


def test_what_several_lack_is_sent_once() -> None:
    catch_up = member(1, [1, 2, 3], {2: Version({GONE: 3}), 3: Version({GONE: 1})})
    assert catch_up.answers(Version({GONE: 5}), 10) == [Span(GONE, 1, 5)]


def test_one_knows_when_others_have_more() -> None:
    catch_up = member(1, [1, 2], {2: Version({GONE: 3})})
    assert catch_up.lacks_something(Version())
    assert not catch_up.lacks_something(Version({GONE: 3}))
