"""Settings and the recent list survive everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.object_lists import RECENT_MAX, RecentList
from app.settings import Settings, load_settings, save_settings, system_name
from widgets.listed_object import ListedObject


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    settings = Settings("Ada", "#006892", "dark")
    save_settings(file, settings)
    assert load_settings(file) == settings


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"name": 5, "colour": "red", "theme": "pink"}',
        '{"name": " "}',
        "\xff",
    ],
)
def test_a_broken_file_is_as_at_the_first_start(tmp_path: Path, content: str) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(content.encode("latin-1"))
    settings = load_settings(file)
    assert settings.name == system_name()
    assert settings.theme == "system"


def test_recent_list_has_the_latest_first_and_each_object_once(tmp_path: Path) -> None:
    recent = RecentList(tmp_path / "recent.json")
    for number in range(RECENT_MAX + 3):
        recent.add(ListedObject(f"{number:064x}", f"{number}", f"/{number}", "note"))
    recent.add(ListedObject(f"{5:064x}", "again", "", "folder"))
    again = RecentList(tmp_path / "recent.json")
    assert again.entries == recent.entries
    assert again.entries[0].title == "again"
    assert again.entries[0].where == "/5", "where it came from is not forgotten"
    assert len(again.entries) == RECENT_MAX


@pytest.mark.parametrize("content", ["", "{}", '[1, {"key": 2}, {"title": "x"}]'])
def test_a_broken_recent_list_is_empty(tmp_path: Path, content: str) -> None:
    (tmp_path / "recent.json").write_text(content)
    assert RecentList(tmp_path / "recent.json").entries == ()
