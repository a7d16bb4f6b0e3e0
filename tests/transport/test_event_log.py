"""Event logs: complete when all is well, honest when not."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.transport.event_logs import Times, closed, make_log, opened, rows
from transport import event_log
from transport.event_log import BUFFER_BYTES_MAX
from transport.event_log_schema import RECORD_BYTES_MAX, Damage, Record


def test_segment_is_outside_the_watched_folder_until_it_is_whole(tmp_path: Path) -> None:
    times = Times()
    log = make_log(tmp_path, times)
    log.record(Record.HEALTH, 7, 3, 1)
    assert log.waiting
    log.flush()
    assert (len(opened(tmp_path)), len(closed(tmp_path))) == (1, 0)
    log.record(Record.COUNTERS, 7, 0, [1, 2])
    times.now_s += 60
    log.flush()
    assert (len(opened(tmp_path)), len(closed(tmp_path))) == (0, 1)
    damage = Damage()
    head, health, counters = rows(closed(tmp_path)[0], damage)
    assert head.values["counter_names"] == ["one", "two"]
    assert health.values == {"node": 7, "health": 3, "reason": 1}
    assert counters.values["values"] == [1, 2]
    assert counters.time_ns == Times().wall_ns()
    assert damage == Damage()


def test_large_segment_is_closed_before_its_time(tmp_path: Path) -> None:
    log = make_log(tmp_path, Times(), segment_bytes_max=1000)
    for number in range(100):
        log.record(Record.HEALTH, number, 3, 1)
    log.flush()
    assert len(closed(tmp_path)) == 1
    assert len(rows(closed(tmp_path)[0])) == 101


def test_nothing_is_made_where_nothing_is_recorded(tmp_path: Path) -> None:
    log = make_log(tmp_path / "logs", Times())
    log.flush()
    log.close()
    assert not (tmp_path / "logs").exists()


def test_oldest_segments_give_way(tmp_path: Path) -> None:
    times = Times()
    log = make_log(tmp_path, times, folder_bytes_max=400)
    for number in range(20):
        log.record(Record.HEALTH, number, 3, 1)
        times.now_s += 61
        log.flush()
    left = closed(tmp_path)
    assert sum(path.stat().st_size for path in left) <= 400
    assert rows(left[-1])[-1].values["node"] == 19


def test_segment_of_a_crashed_program_is_closed_by_the_next(tmp_path: Path) -> None:
    times = Times()
    crashed = make_log(tmp_path, times)
    crashed.record(Record.HEALTH, 1, 3, 1)
    crashed.flush()
    make_log(tmp_path, times)
    assert len(opened(tmp_path)) == 1, "a segment that is being written stays"
    assert crashed._file is not None
    os.close(crashed._file)
    make_log(tmp_path, times)
    assert (len(opened(tmp_path)), len(closed(tmp_path))) == (0, 1)


def test_full_disk_loses_records_and_says_so_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    times = Times()
    log = make_log(tmp_path, times)
    real_write = os.write

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(event_log.os, "write", full)
    for _ in range(3):
        log.record(Record.HEALTH, 1, 3, 1)
        log.flush()
    assert log.lost_records == 3
    assert [record.message for record in caplog.records].count(
        "events are not logged: No space left on device"
    ) == 1
    monkeypatch.setattr(event_log.os, "write", real_write)
    log.record(Record.HEALTH, 2, 3, 1)
    log.close()
    kept = [row for path in closed(tmp_path) for row in rows(path)]
    assert [row.values["node"] for row in kept if row.kind is Record.HEALTH] == [2]
    assert [row.values["records"] for row in kept if row.kind is Record.LOST] == [3]


def test_writer_that_is_never_flushed_stays_within_its_memory(tmp_path: Path) -> None:
    log = make_log(tmp_path, Times())
    for _ in range(40):
        log.record(Record.APPLICATION, 1, "x" * 40_000, {})
    assert log.lost_records == 40 - BUFFER_BYTES_MAX // 40_030
    log.record(Record.APPLICATION, 1, "x" * RECORD_BYTES_MAX, {})
    log.record(Record.APPLICATION, 1, object(), {})
    log.record(Record.HEALTH, 1 << 70, 3, 1)
    assert log.lost_records == 43 - BUFFER_BYTES_MAX // 40_030
    log.close()
    assert rows(closed(tmp_path)[0])[-1].values == {"records": log.lost_records}


def test_folder_that_cannot_be_made_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    log = make_log(tmp_path / "file", Times())
    log.record(Record.HEALTH, 1, 3, 1)
    log.flush()
    log.close()
    assert log.lost_records == 1


def test_whoever_wants_to_know_is_told_of_closed_segments(tmp_path: Path) -> None:
    told: list[int] = []
    log = make_log(tmp_path, Times(), on_closed=lambda: told.append(len(closed(tmp_path))))
    for _ in range(2):
        log.record(Record.LOST, 1)
        log.close()
    log.close()
    assert told == [1, 2]
