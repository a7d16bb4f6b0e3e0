"""Lists that outlive the program: pinned objects, and what was open when it ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.object_lists import TRIES_MAX, OpenList, PinnedList
from widgets.listed_object import ListedObject


def listed(file: Path, title: str = "One") -> ListedObject:
    file.write_text("x")
    return ListedObject(str(file), title, str(file), "note")


def test_pinning_is_kept_and_taken_off_again(tmp_path: Path) -> None:
    pinned = PinnedList(tmp_path / "pinned.json")
    one, two = listed(tmp_path / "1"), listed(tmp_path / "2")
    assert pinned.toggle(one)
    assert pinned.toggle(two)
    assert pinned.rename(one.key, "Uno")
    assert not pinned.rename(one.key, "Uno")
    again = PinnedList(tmp_path / "pinned.json")
    assert [entry.title for entry in again.entries] == ["Uno", "One"]
    assert not again.toggle(two)
    assert two.key not in again
    assert one.key in again


def test_what_is_open_is_kept_with_what_is_in_front(tmp_path: Path) -> None:
    file = tmp_path / "open.json"
    opened = OpenList(file)
    assert opened.keys == ()
    opened.set(["/a", "/b"], "/b")
    again = OpenList(file)
    assert (again.keys, again.front) == (("/a", "/b"), "/b")


def test_a_session_that_brings_the_program_down_is_given_up(tmp_path: Path) -> None:
    file = tmp_path / "open.json"
    OpenList(file).set(["/a"], "")
    for _ in range(TRIES_MAX):
        assert not OpenList(file).given_up
        OpenList(file).trying()
    assert OpenList(file).given_up
    OpenList(file).settled()
    assert not OpenList(file).given_up
    assert OpenList(file).keys == ("/a",)


@pytest.mark.parametrize(
    "content",
    ["", "[]", '{"objects": 5}', '{"objects": [1, null], "front": 3, "tries": "x"}', "[" * 100_000],
)
def test_a_broken_list_is_empty(tmp_path: Path, content: str) -> None:
    file = tmp_path / "open.json"
    file.write_text(content)
    opened = OpenList(file)
    assert (opened.keys, opened.front, opened.given_up) == ((), "", False)
    (tmp_path / "pinned.json").write_text(content)
    assert PinnedList(tmp_path / "pinned.json").entries == ()
