"""Files are written whole and durable, or not at all; nobody else can read them."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.disk_faults import refusing
from transport import whole_file
from transport.whole_file import (
    WholeFile,
    export_whole,
    export_with,
    put_in_place,
    remove_leftovers,
    write_whole,
)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the system was asked for, in its order."""
    asked: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def fsync_noted(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        asked.append(f"sync {kind}")
        fsync(descriptor)

    def replace_noted(path: Path, target: Path) -> Path:
        asked.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", fsync_noted)
    monkeypatch.setattr(Path, "replace", replace_noted)
    return asked


def test_file_is_synced_before_it_gets_its_name_and_its_folder_after(
    tmp_path: Path, calls: list[str]
) -> None:
    write_whole(tmp_path / "file", b"all of it")
    assert (tmp_path / "file").read_bytes() == b"all of it"
    assert calls == ["sync file", "rename", "sync folder"]


def test_nobody_else_can_read_it_whatever_the_umask(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        write_whole(tmp_path / "file", b"secret")
        with WholeFile(tmp_path / "growing") as file:
            assert rights(file.temporary) == 0o600
    finally:
        os.umask(mask)
    assert rights(tmp_path / "file") == 0o600


def test_file_that_others_could_read_is_private_once_it_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)
    write_whole(path, b"new")
    assert rights(path) == 0o600


def test_disk_that_takes_a_few_bytes_at_a_time_gets_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    write_whole(tmp_path / "file", b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["write", "fsync", "open", "replace"])
def test_disk_that_refuses_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def refuse(*_arguments: object, **_named: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path if call == "replace" else os, call, refuse)
    with pytest.raises(OSError, match=re.escape(os.strerror(code))):
        write_whole(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_interrupted_writer_leaves_nothing(tmp_path: Path) -> None:
    def write_half() -> None:
        with WholeFile(tmp_path / "file") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert names(tmp_path) == []


def test_folder_that_cannot_be_synced_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def refuse_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "the disk is ill")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    with pytest.raises(OSError, match="ill"):
        write_whole(tmp_path / "file", b"whole")
    assert names(tmp_path) == ["file"]


def test_file_system_that_cannot_be_asked_to_sync_is_written_all_the_same(tmp_path: Path) -> None:
    with refusing("fsync", errno.EINVAL):
        write_whole(tmp_path / "file", b"whole")
    assert (tmp_path / "file").read_bytes() == b"whole"


def test_writer_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from transport.whole_file import write_whole
for number in range(100_000):
    write_whole(Path(sys.argv[1]) / "file", bytes([number % 256]) * 300_000)
    print(number, flush=True)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    for writes in (1, 7, 20):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(writes):
                assert writer.stdout.readline()
            writer.kill()
        data = (tmp_path / "file").read_bytes()
        assert data == data[:1] * 300_000
        remove_leftovers(tmp_path)
        assert names(tmp_path) == ["file"]


def test_name_that_is_taken_is_not_replaced_unless_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"first", replace=False)
    with pytest.raises(FileExistsError):
        write_whole(path, b"second", replace=False)
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("taken", [False, True])
def test_disk_without_links_keeps_a_taken_name_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    def no_links(*_arguments: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "file"
    if taken:
        write_whole(path, b"first")
        with pytest.raises(FileExistsError):
            write_whole(path, b"second", replace=False)
    else:
        write_whole(path, b"first", replace=False)
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["file"]


def test_link_stays_a_link_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "settings", tmp_path / "settings"
    real.write_bytes(b"old")
    link.symlink_to(real)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name, reason in (("pipe", "not a regular file"), ("folder", "directory")):
        with pytest.raises(OSError, match=reason):
            write_whole(tmp_path / name, b"data")
    assert names(tmp_path) == ["folder", "pipe"]


def test_longest_name_that_a_disk_allows_can_be_written(tmp_path: Path) -> None:
    write_whole(tmp_path / ("n" * 255), b"data")
    assert names(tmp_path) == ["n" * 255]


def test_export_has_the_rights_of_the_users_files(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        export_whole(tmp_path / "new", b"data")
        export_with(tmp_path / "drawn", lambda path: path.write_bytes(b"drawn") and None)
        (tmp_path / "there").write_bytes(b"old")
        (tmp_path / "there").chmod(0o666)
        export_whole(tmp_path / "there", b"data")
    finally:
        os.umask(mask)
    assert rights(tmp_path / "new") == rights(tmp_path / "drawn") == 0o640
    assert rights(tmp_path / "there") == 0o666
    assert (tmp_path / "drawn").read_bytes() == b"drawn"


def test_export_keeps_the_users_rights_in_a_program_that_is_private(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from transport.whole_file import export_whole, private_files, users_rights
os.umask(0o022)
folder = Path(sys.argv[1])
with private_files(), private_files():
    export_whole(folder / "export", b"data")
    (folder / "other").write_bytes(b"data")
    with users_rights():
        (folder / "folder").mkdir()
(folder / "after").write_bytes(b"data")
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert rights(tmp_path / "export") == rights(tmp_path / "after") == 0o644
    assert rights(tmp_path / "other") == 0o600
    assert rights(tmp_path / "folder") == 0o755


def test_what_has_grown_elsewhere_is_synced_before_it_gets_its_name(
    tmp_path: Path, calls: list[str]
) -> None:
    (tmp_path / "file.part").write_bytes(b"grown")
    put_in_place(tmp_path / "file.part", tmp_path / "file")
    assert calls == ["sync file", "rename", "sync folder"]
    assert names(tmp_path) == ["file"]


def test_leftovers_of_a_crash_are_removed_and_nothing_else(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from transport.whole_file import WholeFile
file = WholeFile(Path(sys.argv[1]) / "file")
file.write(b"half")
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    (tmp_path / f".live-objects-{os.getppid()}-1.partial").write_bytes(b"of a process that lives")
    (tmp_path / ".live-objects-notes.partial").write_bytes(b"of somebody else")
    kept = set(names(tmp_path)) & {f".live-objects-{os.getppid()}-1.partial"}
    kept.add(".live-objects-notes.partial")
    assert len(names(tmp_path)) == 3
    with WholeFile(tmp_path / "mine") as mine:
        assert remove_leftovers(tmp_path) == 1
        mine.finish()
    assert set(names(tmp_path)) == kept | {"mine"}
    assert remove_leftovers(tmp_path / "missing") == 0


def test_leftover_of_an_earlier_process_of_the_same_number_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_file, "_numbers", iter(range(1, 10)))
    leftover = tmp_path / f".live-objects-{os.getpid()}-1.partial"
    leftover.write_bytes(b"half")
    write_whole(tmp_path / "file", b"whole")
    assert (tmp_path / "file").read_bytes() == b"whole"
    assert leftover.read_bytes() == b"half"
    assert remove_leftovers(tmp_path) == 1
