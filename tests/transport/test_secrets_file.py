"""Secrets on disk: whole or not at all, and read by nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.disk_faults import FAULTS, all_files, refusing
from transport.errors import SystemRefused
from transport.secrets_file import read_small, write_private


@pytest.mark.parametrize(("call", "code"), FAULTS)
def test_disk_that_refuses_leaves_the_old_secret_and_says_so(
    tmp_path: Path, call: str, code: int
) -> None:
    path = tmp_path / "scope"
    write_private(path, "old")
    before = all_files(tmp_path)
    with refusing(call, code), pytest.raises(SystemRefused, match="cannot be written"):
        write_private(path, "new", replace=True)
    assert all_files(tmp_path) == before
    assert read_small(path, private=True) == "old"


def test_name_that_is_taken_is_not_replaced_unless_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "identity"
    write_private(path, "first")
    with pytest.raises(SystemRefused, match="exists already"):
        write_private(path, "second")
    write_private(path, "third", replace=True)
    assert all_files(tmp_path) == {"identity": b"third"}
