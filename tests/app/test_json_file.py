"""Small files of JSON: written whole, and damaged ones kept for whoever can repair them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.json_file import ASIDE_MAX, JsonSaver, load_json, load_list, load_object, save_json
from tests.disk_faults import FAULTS, all_files, refusing


def test_what_is_saved_is_read_again_and_nobody_else_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "recent.json"
    save_json(file, {"title": "Äpfel"})
    assert load_object(file) == {"title": "Äpfel"}
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(all_files(tmp_path)) == ["recent.json"]


@pytest.mark.parametrize(("call", "code"), FAULTS)
def test_disk_that_refuses_leaves_what_was_there(tmp_path: Path, call: str, code: int) -> None:
    file = tmp_path / "recent.json"
    save_json(file, ["old"])
    before = all_files(tmp_path)
    with refusing(call, code):
        save_json(file, ["new"])
    assert all_files(tmp_path) == before


def test_damaged_file_is_put_aside_before_it_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "pinned.json"
    damaged = [f"[{number}, 'half" for number in range(ASIDE_MAX + 2)]
    for text in damaged:
        file.write_text(text)
        assert load_json(file) is None
        assert file.read_text() == text, "nothing is moved by who only reads"
        save_json(file, ["new"])
        assert load_json(file) == ["new"]
    kept = [tmp_path / f"pinned.json.damaged-{number + 1}" for number in range(ASIDE_MAX)]
    assert [each.read_text() for each in kept] == [*damaged[: ASIDE_MAX - 1], damaged[-1]]
    assert len(all_files(tmp_path)) == ASIDE_MAX + 1


def test_file_of_another_form_is_put_aside_too(tmp_path: Path) -> None:
    one, other = tmp_path / "settings.json", tmp_path / "recent.json"
    one.write_text('["not an object"]')
    other.write_text('{"not": "a list"}')
    assert load_object(one) == {}
    assert load_list(other) == []
    save_json(one, {})
    save_json(other, [])
    assert (tmp_path / "settings.json.damaged-1").read_text() == '["not an object"]'
    assert (tmp_path / "recent.json.damaged-1").read_text() == '{"not": "a list"}'


def test_what_changes_while_the_disk_is_waited_for_is_written_once(tmp_path: Path) -> None:
    file, waiting = tmp_path / "open.json", []
    saver = JsonSaver(file, lambda work, _done: waiting.append(work))
    for number in range(5):
        saver.save([number])
    assert not file.exists(), "nobody has waited for the disk"
    assert len(waiting) == 1
    waiting.pop()()
    assert load_json(file) == [4]
    saver.save([5])
    saver.save_now([6])
    assert load_json(file) == [6]
    waiting.pop()()
    assert load_json(file) == [6]


def test_whole_file_is_replaced_and_none_is_put_aside(tmp_path: Path) -> None:
    file = tmp_path / "pinned.json"
    for number in range(3):
        save_json(file, [number])
        assert load_json(file) == [number]
    assert list(all_files(tmp_path)) == ["pinned.json"]
