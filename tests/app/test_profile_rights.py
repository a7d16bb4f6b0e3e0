"""A profile is its user's alone, whatever rights its folders had before."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.paths import Paths, find_paths
from liveobj.objects.text_note import new_note
from liveobj.references import write_reference_file
from tests.app.command_process import ROOT, run
from transport.errors import SystemRefused
from transport.identities import Identity


def rights(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def readable_by_others(folder: Path) -> list[Path]:
    everything = [folder, *folder.rglob("*")]
    return [path for path in everything if not path.is_symlink() and rights(path) & 0o077]


def old_profile(folder: Path) -> Paths:
    """As a version left it that took the umask of its user."""
    paths = find_paths({}, folder)
    contents = paths.objects / "contents" / "ab"
    for each in (contents, paths.references, paths.runtime, folder / "events" / "open"):
        each.mkdir(parents=True)
    for file in (
        *(paths.settings, paths.recent, paths.search, paths.log, paths.trust),
        *(paths.objects / "x.db", paths.objects / "x.db-wal", contents / "content"),
        *(paths.references / "x.liveobject", folder / "events" / "person"),
        *(folder / "live-objects.log.1", folder / "recent.json.damaged-1"),
    ):
        file.write_bytes(b"x")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return paths


def test_profile_that_others_could_read_is_closed_at_the_next_start(tmp_path: Path) -> None:
    paths = old_profile(tmp_path / "profile")
    assert readable_by_others(tmp_path / "profile")
    paths.make()
    assert readable_by_others(tmp_path / "profile") == []
    assert rights(paths.search) == 0o600


def test_users_own_rights_stay(tmp_path: Path) -> None:
    paths = old_profile(tmp_path / "profile")
    (paths.objects / "x.db").chmod(0o444)
    paths.log.chmod(0o755)
    paths.make()
    assert rights(paths.objects / "x.db") == 0o400
    assert rights(paths.log) == 0o700


def test_empty_folder_that_was_made_for_a_profile_is_closed(tmp_path: Path) -> None:
    (tmp_path / "profile").mkdir(mode=0o755)
    find_paths({}, tmp_path / "profile").make()
    assert readable_by_others(tmp_path / "profile") == []


def test_folder_with_other_things_stays_open_and_only_ours_are_closed(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    paths = old_profile(folder)
    (folder / "holiday.jpg").write_bytes(b"x")
    (folder / "holiday.jpg").chmod(0o644)
    paths.make()
    assert rights(folder) == 0o755
    assert readable_by_others(folder) == [folder, folder / "holiday.jpg"]


def test_links_lead_to_what_is_not_ours(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"x")
    elsewhere.chmod(0o644)
    paths = old_profile(tmp_path / "profile")
    (paths.objects / "link").symlink_to(elsewhere)
    paths.settings.unlink()
    paths.settings.symlink_to(elsewhere)
    paths.make()
    assert rights(elsewhere) == 0o644


def test_identity_that_others_could_read_is_still_refused(tmp_path: Path) -> None:
    paths = old_profile(tmp_path / "profile")
    identity = tmp_path / "profile" / "identity"
    Identity(os.urandom(32)).save(identity)
    identity.chmod(0o644)
    paths.make()
    assert rights(tmp_path / "profile") == 0o700
    with pytest.raises(SystemRefused, match="Others can read"):
        Identity.load(identity)


def test_disk_without_rights_is_no_reason_not_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = old_profile(tmp_path / "profile")

    def refuse(*_arguments: object, **_named: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    paths.make()


def test_program_leaves_nothing_for_others_but_what_was_asked_for(tmp_path: Path) -> None:
    state, picture = tmp_path / "profile", tmp_path / "picture.png"
    state.mkdir(mode=0o755)
    note = tmp_path / "note.liveobject"
    write_reference_file(new_note("Plan", os.urandom), note)
    program = (
        "import os, sys; os.umask(0o022);from app.main import main; sys.exit(main(sys.argv[1:]))"
    )
    options = [
        *("--state-dir", str(state), "--interface", "127.0.0.1", "--live"),
        *("--screenshot", str(picture), str(note)),
    ]
    done = subprocess.run(
        [sys.executable, "-c", program, *options],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert rights(picture) == 0o644
    names = {path.name for path in state.iterdir()}
    assert {"objects", "references", "recent.json", "search.db", "trusted"} <= names
    assert readable_by_others(state) == []


def test_reference_file_of_a_command_is_its_users_alone(tmp_path: Path) -> None:
    file = tmp_path / "note.liveobject"
    code, _, complaints = run("new", str(file), "--state-dir", str(tmp_path / "profile"))
    assert code == 0, complaints
    assert rights(file) == 0o600
