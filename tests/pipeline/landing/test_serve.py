"""The collector of an application: asked by lines, alone in its folder, ended with its asker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.errors import PipelineProblem
from pipeline.landing import serve as serving
from pipeline.landing.room import make_room
from pipeline.landing.serve import STATE_FILE, serve
from tests.pipeline.landing.test_collect import put, segment

ROOM = 1 << 20


@pytest.fixture(autouse=True)
def _same_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that runs the tests does not give way: it could not take that back."""
    monkeypatch.setattr(serving, "_give_way", lambda: None)


def test_it_collects_at_once_and_when_asked_but_not_when_its_asker_has_ended(
    tmp_path: Path,
) -> None:
    landing = tmp_path / "landed"
    seen: list[int] = []

    def asked() -> Iterator[str]:
        for number in range(2):
            seen.append(len(list(landing.glob("*.parquet"))))
            put(tmp_path, f"later-{number}", segment(number + 1))
            yield "\n"
        seen.append(len(list(landing.glob("*.parquet"))))
        put(tmp_path, "last", segment(9))

    put(tmp_path, "first", segment(3))
    serve(tmp_path, landing, asked(), ROOM)
    assert seen == [1, 2, 3]
    assert len(list(landing.glob("*.parquet"))) == 3
    told = json.loads((tmp_path / STATE_FILE).read_text())
    assert told == {"segments": 3, "rows": 4 + 2 + 3, "refused": 0, "problem": ""}


def test_what_goes_wrong_is_told_and_tried_again(tmp_path: Path) -> None:
    landing = tmp_path / "landed"
    landing.write_text("in the way")
    put(tmp_path, "one", segment())
    problems: list[str] = []

    def asked() -> Iterator[str]:
        problems.append(json.loads((tmp_path / STATE_FILE).read_text())["problem"])
        landing.unlink()
        yield "\n"
        problems.append(json.loads((tmp_path / STATE_FILE).read_text())["problem"])

    serve(tmp_path, landing, asked(), ROOM)
    assert "cannot be written" in problems[0]
    assert problems[1] == ""
    assert len(list(landing.glob("*.parquet"))) == 1


def test_the_oldest_files_give_way(tmp_path: Path) -> None:
    for number in range(5):
        put(tmp_path, f"{number:020d}-1-1", segment(number))
    landing = tmp_path / "landed"
    serve(tmp_path, landing, [], ROOM)
    (landing / "notes.parquet").write_bytes(bytes(100))
    sizes = sorted((path.name, path.stat().st_size) for path in landing.glob("0*.parquet"))
    assert make_room(landing, sizes[-1][1] + sizes[-2][1]) == 3
    assert make_room(landing, ROOM, files_max=1) == 1
    left = sorted(path.name for path in landing.iterdir())
    assert left == [sizes[-1][0], "notes.parquet"], "what no collector wrote is not touched"
    assert make_room(tmp_path / "none", 0) == 0


def test_a_real_one_gives_way_is_alone_and_ends_with_its_input(tmp_path: Path) -> None:
    put(tmp_path, "one", segment())
    landing = tmp_path / "landed"
    command = [sys.executable, "-m", "pipeline", "--quiet", "collect", str(tmp_path)]
    command += ["--landing", str(landing), "--asked", "--room", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        deadline_s = time.monotonic() + 30
        while not (tmp_path / STATE_FILE).exists() and time.monotonic() < deadline_s:
            time.sleep(0.02)
        assert len(list(landing.glob("*.parquet"))) == 1
        assert os.sched_getscheduler(child.pid) == os.SCHED_IDLE
        with pytest.raises(PipelineProblem, match="Another collector works"):
            serve(tmp_path, landing, [], ROOM)
        put(tmp_path, "two", segment(2))
        child.stdin.close()
        assert child.wait(30) == 0
    assert len(list(landing.glob("*.parquet"))) == 1
    serve(tmp_path, landing, [], ROOM)
