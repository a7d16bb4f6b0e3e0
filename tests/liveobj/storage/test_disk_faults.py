"""A share of `make disk-faults`: calls to the disk fail, and nothing that was saved is lost."""

from __future__ import annotations

import pytest

from tests.liveobj.storage.disk_faults import main

# Each so-many-th case; all of them take minutes.
SHARE = 23


def test_whatever_call_to_the_disk_fails_nothing_that_was_saved_is_lost(
    capfd: pytest.CaptureFixture[str],
) -> None:
    result = main(["--share", str(SHARE)])
    told = capfd.readouterr().out
    assert result == 0, told
    assert told.endswith(" 0 failures\n")


def test_what_may_only_be_read_is_opened_to_look_at(capfd: pytest.CaptureFixture[str]) -> None:
    result = main(["--only", "look"])
    assert result == 0, capfd.readouterr().out


def test_a_sweep_notices_what_is_lost(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "liar", "--share", "50"]) == 1
    assert "lost: ['never written']" in capfd.readouterr().out
