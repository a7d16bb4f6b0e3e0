"""The collector beside the program: started late, told of segments, never waited for."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app import collecting
from app.collecting import AGAIN_AFTER_S, BEGIN_AFTER_S, Collecting, check_collecting
from transport.event_log import EventLog
from transport.event_log_schema import Record
from transport.findings import Verdict

WAIT_S = 30.0


class Diary:
    """Appointments, and the time, as the test says."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.callbacks: list[Callable[[], None]] = []

    def call_at(self, deadline_s: float, callback: Callable[[], None]) -> Diary:
        self.callbacks.append(callback)
        return self

    def close(self) -> None:
        self.callbacks.clear()

    def clock(self) -> float:
        return self.now_s

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds
        for callback in self.callbacks[:]:
            callback()


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.fixture
def collector(tmp_path: Path, diary: Diary) -> Iterator[Collecting]:
    made = Collecting(tmp_path, diary.call_at, diary.clock)
    yield made
    made.close()
    if made._child is not None:
        made._child.wait(WAIT_S)


def write_segment(folder: Path, on_closed: Callable[[], None] = lambda: None) -> None:
    log = EventLog(
        folder,
        program="test",
        scope_label="ab",
        counter_names=("one",),
        wall_ns=time.time_ns,
        clock=time.monotonic,
        on_closed=on_closed,
    )
    log.record(Record.LEFT, 7, bytes(16))
    log.close()


def landed(folder: Path) -> list[Path]:
    return sorted((folder / "landed").glob("*.parquet"))


def wait_until(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline_s, "waited in vain"
        time.sleep(0.02)


def test_what_waits_at_the_start_lands_and_what_is_closed_later_too(
    collector: Collecting, diary: Diary, tmp_path: Path
) -> None:
    write_segment(tmp_path, collector.segment_closed)
    assert collector._child is None, "the start of the program comes first"
    diary.pass_s(BEGIN_AFTER_S)
    wait_until(lambda: len(landed(tmp_path)) == 1)
    write_segment(tmp_path, collector.segment_closed)
    wait_until(lambda: len(landed(tmp_path)) == 2)
    wait_until(lambda: collecting.waiting_segments(tmp_path) == 0)
    # The last one, closed with the program, lands after the next start.
    write_segment(tmp_path)
    collector.close()
    collector.segment_closed()
    assert collector._child is not None
    assert collector._child.wait(WAIT_S) != 0
    assert len(landed(tmp_path)) == 2
    again = Collecting(tmp_path, diary.call_at, diary.clock)
    diary.pass_s(BEGIN_AFTER_S)
    wait_until(lambda: len(landed(tmp_path)) == 3)
    again.close()
    found = check_collecting(tmp_path, wanted=True)
    assert (found.verdict, found.sentence[:15]) == (Verdict.GOOD, "3 Parquet files")


PROGRAM = """
import sys, time
from pathlib import Path
from app.collecting import Collecting
from tests.app.test_collecting import Diary
diary = Diary()
collecting = Collecting(Path(sys.argv[1]), diary.call_at, diary.clock)
diary.pass_s(1000)
print(collecting._child.pid, flush=True)
time.sleep(600)
"""


def test_a_program_that_is_killed_takes_its_collector_with_it(tmp_path: Path) -> None:
    write_segment(tmp_path)
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        child = int(program.stdout.readline())
        try:
            wait_until((tmp_path / "collected.json").exists)
            write_segment(tmp_path)
        finally:
            program.kill()
    wait_until(lambda: is_gone(child))
    assert len(landed(tmp_path)) == 1, "nothing is written any more"


def is_gone(process: int) -> bool:
    """Whether it has ended; perhaps nobody has asked for its result yet."""
    try:
        state = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return True
    return state.rpartition(")")[2].split()[0] in "ZX"


def test_nothing_is_started_where_nothing_waits(collector: Collecting, diary: Diary) -> None:
    diary.pass_s(BEGIN_AFTER_S)
    assert collector._child is None


def test_one_that_ended_is_started_again_but_not_at_once(
    collector: Collecting, diary: Diary, tmp_path: Path
) -> None:
    diary.pass_s(BEGIN_AFTER_S)
    collector.segment_closed()
    first = collector._child
    assert first is not None
    first.kill()
    first.wait()
    collector.segment_closed()
    assert collector._child is None
    diary.pass_s(AGAIN_AFTER_S)
    write_segment(tmp_path, collector.segment_closed)
    wait_until(lambda: len(landed(tmp_path)) == 1)


def test_missing_package_leaves_the_segments_and_the_doctor_says_so(
    collector: Collecting, diary: Diary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "find_spec", lambda name: None if name == "duckdb" else name)
    write_segment(tmp_path)
    diary.pass_s(BEGIN_AFTER_S)
    collector.segment_closed()
    assert collector._child is None
    assert collecting.waiting_segments(tmp_path) == 1
    found = check_collecting(tmp_path, wanted=True)
    assert found.verdict is Verdict.ODD
    assert "live-objects[landing]" in found.fix


def test_the_system_may_refuse_to_start_it(
    collector: Collecting, diary: Diary, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(collecting.sys, "executable", str(tmp_path / "none"))
    diary.pass_s(BEGIN_AFTER_S)
    collector.segment_closed()
    assert collector._child is None


def test_the_doctor_knows_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "as the settings say" in check_collecting(tmp_path, wanted=False).sentence
    assert check_collecting(tmp_path, wanted=True).verdict is Verdict.GOOD
    for text in ("{", "[]", '{"problem": null}', '{"problem": ""}'):
        (tmp_path / "collected.json").write_text(text)
        assert check_collecting(tmp_path, wanted=True).verdict is Verdict.GOOD
    (tmp_path / "collected.json").write_text(json.dumps({"problem": "The disk is full."}))
    assert "The disk is full" in check_collecting(tmp_path, wanted=True).sentence
    (tmp_path / "collected.json").unlink()
    monkeypatch.setattr(collecting, "WAITING_MAX", 0)
    write_segment(tmp_path)
    assert "1 segments" in check_collecting(tmp_path, wanted=True).sentence
