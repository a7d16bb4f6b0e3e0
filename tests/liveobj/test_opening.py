"""Objects opened for a window: once or several times, renamed, refused."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from liveobj.capabilities import view_only
from liveobj.documents import DocumentError
from liveobj.errors import Problem
from liveobj.objects.catalogue import MAKERS
from liveobj.objects.shared_document import TITLE_CHARACTERS_MAX
from liveobj.objects.text_note import TextNote, new_note
from liveobj.opening import Opening
from liveobj.runtime import Runtime
from tests.liveobj.simulated import SimulatedOffice

NOTE = new_note("Plan", random.Random(5).randbytes)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[SimulatedOffice]:
    office = SimulatedOffice(tmp_path, 2)
    yield office
    office.close()


def test_two_showings_share_one_note_and_the_last_closes_it(office: SimulatedOffice) -> None:
    runtime = Runtime(office.hosts[0])
    first, second = Opening(runtime, NOTE), Opening(runtime, NOTE)
    assert isinstance(first.shared, TextNote)
    assert first.shared is second.shared
    first.close()
    first.close()
    second.shared.document.map("about").set("x", 1)
    second.close()
    assert not runtime.proxies
    assert not len(runtime.resources)


def test_a_new_title_reaches_everybody_and_is_kept(office: SimulatedOffice) -> None:
    ada, jun = (Runtime(host) for host in office.hosts)
    one, two = Opening(ada, NOTE), Opening(jun, NOTE)
    one.shared.rename("  Plan\n for   Monday ")
    office.until(lambda: two.title == "Plan for Monday")
    assert two.shared.state.title == "Plan for Monday"
    two.close()
    again = Opening(jun, NOTE)
    assert again.title == "Plan for Monday"


@pytest.mark.parametrize("title", ["", " \n", "x" * (TITLE_CHARACTERS_MAX + 1)])
def test_bad_titles_change_nothing(title: str, office: SimulatedOffice) -> None:
    one = Opening(Runtime(office.hosts[0]), NOTE)
    with pytest.raises(DocumentError, match="A title has"):
        one.shared.rename(title)
    assert one.title == "Plan"


def test_a_strange_title_from_others_is_passed_over(office: SimulatedOffice) -> None:
    one = Opening(Runtime(office.hosts[0]), NOTE)
    one.shared.document.map("about").set("title", 7)
    assert one.title == "Plan"
    one.shared.document.map("about").set("title", "y" * 1000)
    assert len(one.title) == TITLE_CHARACTERS_MAX


def test_who_may_only_look_cannot_rename(office: SimulatedOffice) -> None:
    one = Opening(Runtime(office.hosts[0]), view_only(NOTE))
    with pytest.raises(DocumentError):
        one.shared.rename("Mine")


def test_what_has_no_document_is_refused_and_nothing_stays_open(office: SimulatedOffice) -> None:
    runtime = Runtime(office.hosts[0])
    with pytest.raises(Problem, match="without a window"):
        Opening(runtime, MAKERS["channel"]("Talk", random.Random(1).randbytes))
    assert not runtime.proxies
