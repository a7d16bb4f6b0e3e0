"""Where things are kept, whatever the environment says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.errors import StartProblem
from app.paths import find_paths


def test_the_xdg_directories_are_used() -> None:
    paths = find_paths(
        {
            "HOME": "/h",
            "XDG_CONFIG_HOME": "/c",
            "XDG_DATA_HOME": "relative/is/ignored",
            "XDG_RUNTIME_DIR": "/r",
        },
        None,
    )
    assert paths.settings == Path("/c/live-objects/settings.json")
    assert paths.objects == Path("/h/.local/share/live-objects/objects")
    assert paths.log == Path("/h/.local/state/live-objects/live-objects.log")
    assert paths.socket.parent == Path("/r/live-objects")


def test_a_state_dir_holds_everything_and_has_a_socket_of_its_own(tmp_path: Path) -> None:
    one, two = (find_paths({}, tmp_path / name) for name in ("one", "two"))
    one.make()
    assert {path.name for path in (tmp_path / "one").iterdir()} >= {"objects", "references"}
    assert one.socket != two.socket


def test_a_long_path_still_gives_a_socket_that_fits(tmp_path: Path) -> None:
    paths = find_paths({}, tmp_path / ("x" * 120))
    assert len(str(paths.socket)) < 108


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartProblem, match="choose another one with --state-dir"):
        find_paths({}, tmp_path / "file" / "below").make()


def test_what_a_crash_left_half_written_is_gone_after_the_next_start(tmp_path: Path) -> None:
    paths = find_paths({}, tmp_path)
    paths.make()
    contents = paths.objects / "contents"
    contents.mkdir()
    gone = [
        # No process has this number: it is above the largest one that Linux allows.
        folder / f".live-objects-{2**22 + 1}-1.partial"
        for folder in (paths.config, paths.references, contents)
    ]
    for file in gone:
        file.write_bytes(b"half")
    paths.make()
    assert not any(file.exists() for file in gone)


def test_folder_for_the_socket_that_somebody_else_has_made_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    profile = tmp_path / ("x" * 120)
    first = find_paths({}, profile).runtime
    assert first.parent == tmp_path
    first.mkdir()
    assert find_paths({}, profile).runtime == first, "it is ours"
    monkeypatch.setattr(os, "getuid", lambda: first.stat().st_uid + 1)
    second = find_paths({}, profile).runtime
    assert second != first
    paths = find_paths({}, profile)
    second.symlink_to(tmp_path)
    with pytest.raises(StartProblem, match="cannot be used"):
        paths.make()
