"""What goes together is fetched before it is opened, in silence and within bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app import hints, prefetching
from app.hints import Hints, read_hints
from app.known_objects import KnownObjects
from app.object_page import ObjectPage
from liveobj.references import fingerprint, group_id_of, read_reference_file
from liveobj.storage.stored import read_stored
from tests.app.conftest import MakePlace, Place
from tests.app.memory_network import MemoryHub

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

A, B, C = "aa" * 16, "bb" * 16, "cc" * 16


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("BEGIN_AFTER_S", 0.0), ("STEP_S", 0.005), ("FETCH_S_MIN", 0.02)):
        monkeypatch.setattr(prefetching, name, seconds)


class Told:
    """A log that remembers."""

    def __init__(self) -> None:
        self.fetches: list[tuple[str, str]] = []

    def fetched(self, group: str) -> None:
        self.fetches.append(("fetched", group))

    def used(self, group: str) -> None:
        self.fetches.append(("used", group))


def page_in_front(place: Place) -> ObjectPage:
    page = place.window.front
    assert page is not None
    return page


def group_of(file: Path) -> str:
    return group_id_of(fingerprint(read_reference_file(file))).hex()


def advise(place: Place, *files: Path) -> None:
    first, *others = [group_of(file) for file in files]
    place.paths.hints.write_text(json.dumps({"form": 1, "together": {first: others}}))


def stored_text(place: Place, file: Path) -> str:
    identity = fingerprint(read_reference_file(file))
    document = read_stored(place.paths.objects / f"{identity}.db")
    assert document is not None
    return str(document.to_plain())


@pytest.fixture
def office(
    make_place: MakePlace, hub: MemoryHub, qtbot: Any
) -> tuple[Place, Place, Told, list[Path]]:
    """Ada has two notes open; Jun has had them open once."""
    ada, jun = make_place("Ada"), make_place("Jun")
    files = []
    for _ in range(2):
        ada.run("note.new")
        files.append(page_in_front(ada).file)
    for file in files:
        jun.desk.open_file(file)
    hub.run()
    for _ in files:
        jun.run("object.close")
    qtbot.waitUntil(lambda: not jun.session._closing)
    hub.run()
    told = Told()
    jun.desk.prefetching._log = told
    return ada, jun, told, files


def test_what_others_wrote_is_on_the_disk_before_it_is_opened(
    office: tuple[Place, Place, Told, list[Path]], hub: MemoryHub, qtbot: Any
) -> None:
    ada, jun, told, (first, second) = office
    ada.editor.insertPlainText("written meanwhile")
    seen: set[str] = set()
    shared = page_in_front(ada).opened.opening.shared
    shared.presence.observe(lambda each: seen.update(one.name for one in each.others.values()))
    advise(jun, first, second)
    jun.desk.open_file(first)

    def fetched() -> bool:
        hub.run()
        return "written meanwhile" in stored_text(jun, second)

    qtbot.waitUntil(fetched)
    qtbot.waitUntil(lambda: jun.desk.prefetching._current is None)
    assert told.fetches == [("fetched", group_of(second))]
    hub.run()
    assert shared.state.people == 1, "it leaves when it has everything"
    assert "Jun" not in seen
    # Opened now, it is there at once, with nobody else to ask, and the log is told.
    jun.desk.open_file(second)
    assert jun.editor.toPlainText() == "written meanwhile"
    assert told.fetches[-1] == ("used", group_of(second))
    assert not jun.desk.prefetching._queue


def test_opened_while_it_is_fetched_it_stays(
    office: tuple[Place, Place, Told, list[Path]], hub: MemoryHub, qtbot: Any
) -> None:
    _, jun, told, (first, second) = office
    advise(jun, first, second)
    jun.desk.open_file(first)
    qtbot.waitUntil(lambda: jun.desk.prefetching._current is not None)
    jun.desk.open_file(second)
    assert jun.desk.prefetching._current is None
    hub.run()
    shared = page_in_front(jun).opened.opening.shared
    assert shared.state.people == 2
    assert not shared.presence.hidden
    assert [what for what, _ in told.fetches] == ["fetched", "used"]


def test_the_switch_is_heeded_and_open_or_unknown_objects_are_left_alone(
    office: tuple[Place, Place, Told, list[Path]], hub: MemoryHub, qtbot: Any
) -> None:
    ada, jun, told, (first, second) = office
    advise(jun, first, second)
    jun.settings.change(prefetch=False)
    jun.desk.open_file(first)
    assert jun.desk.prefetching._timer is None
    jun.run("object.close")
    jun.settings.change(prefetch=True)
    # One that was never live here, and one that is open.
    ada.run("note.new")
    stranger = page_in_front(ada).file
    jun.desk.open_file(second)
    advise(jun, first, stranger, second)
    jun.desk.open_file(first)
    qtbot.waitUntil(lambda: jun.desk.prefetching._timer is None)
    assert told.fetches == []


def test_nothing_is_fetched_twice_in_a_while_nor_more_than_a_few(
    office: tuple[Place, Place, Told, list[Path]], monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    _, jun, told, (first, second) = office
    monkeypatch.setattr(prefetching, "FETCH_S_MAX", 0.0)
    advise(jun, first, second)
    for _ in range(2):
        jun.desk.open_file(first)
        qtbot.waitUntil(lambda: jun.desk.prefetching._timer is None)
        jun.run("object.close")
    assert len(told.fetches) == 1
    monkeypatch.setattr(prefetching, "QUEUE_MAX", 0)
    monkeypatch.setattr(prefetching, "AGAIN_AFTER_S", 0.0)
    jun.desk.open_file(first)
    assert not jun.desk.prefetching._queue
    jun.desk.prefetching.close()
    jun.desk.prefetching.close()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"form": 2}', '{"form": 1, "together": 3, "fold": "x"}', '{"form": 1}'],
)
def test_advice_of_another_form_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "hints.json").write_text(text)
    assert read_hints(tmp_path / "hints.json") == Hints()


def test_advice_is_bounded_and_what_is_odd_in_it_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hints.json"
    together = {A: [B, B, 7, "short", C], "../x": [A], B: "no list", C: []}
    file.write_text(json.dumps({"form": 1, "together": together, "fold": [C, None, "x" * 32]}))
    assert read_hints(file) == Hints({A: (B, C)}, (C,))
    monkeypatch.setattr(hints, "FILE_BYTES_MAX", 10)
    assert read_hints(file) == Hints()
    assert read_hints(tmp_path / "none.json") == Hints()


def test_broken_reference_files_are_passed_over(make_place: MakePlace) -> None:
    ada = make_place("Ada")
    ada.run("note.new")
    file = page_in_front(ada).file
    (ada.paths.references / "broken.liveobject").write_text("not one")
    known = KnownObjects(ada.paths, (ada.paths.references / "missing.liveobject",))
    while not known.all_read:
        known.look(1)
    assert known.find(group_of(file)) == read_reference_file(file)
    assert known.find(A) is None
