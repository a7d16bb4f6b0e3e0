"""Event logs: complete when all is well, honest when not, and never served when altered."""

from __future__ import annotations

import errno
import os
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transport.network import GROUP_ID, KEY, Recorder, in_one_view
from transport import event_log
from transport.binding import counter_names
from transport.engine_logger import EngineLogger
from transport.event_log import BUFFER_BYTES_MAX, EventLog
from transport.event_log_schema import (
    FRAME_BYTES,
    MARK,
    RECORD_BYTES_MAX,
    SCHEMA,
    Damage,
    Record,
    Row,
    frame,
    read_segment,
)
from transport.events import Health
from transport.simulation import Simulation


class Times:
    """Both clocks, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def clock(self) -> float:
        return self.now_s

    def wall_ns(self) -> int:
        return 1_800_000_000_000_000_000 + int(self.now_s * 1e9)


def make_log(folder: Path, times: Times, **changes: Any) -> EventLog:
    settings = {
        "program": "test",
        "scope_label": "ab" * 8,
        "counter_names": ("one", "two"),
        "wall_ns": times.wall_ns,
        "clock": times.clock,
        **changes,
    }
    return EventLog(folder, **settings)


def closed(folder: Path) -> list[Path]:
    return sorted((folder / "closed").glob("*.events"))


def opened(folder: Path) -> list[Path]:
    return sorted((folder / "open").glob("*.events"))


def rows(path: Path, damage: Damage | None = None) -> list[Row]:
    return list(read_segment(path.read_bytes(), damage))


def sample_segment(records: int = 50) -> bytes:
    data = frame(Record.SEGMENT, 1, (1, "test", "label", 0, ["one"]))
    for number in range(records):
        data += frame(Record.VIEW, number, (number, bytes(16), number, [number, number + 1]))
    return data


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


# The reader


def test_every_flipped_bit_is_detected_and_costs_one_record_at_most() -> None:
    whole = sample_segment(6)
    good = list(read_segment(whole))
    source = random.Random(1)
    for _ in range(10_000):
        bit = source.randrange(len(whole) * 8)
        hurt = bytearray(whole)
        hurt[bit // 8] ^= 1 << bit % 8
        damage = Damage()
        left = list(read_segment(hurt, damage))
        assert damage.places == 1
        assert len(left) == len(good) - 1
        assert all(row in good for row in left)


def test_segment_cut_anywhere_gives_all_whole_records() -> None:
    whole = sample_segment()
    good = list(read_segment(whole))
    for length in range(len(whole)):
        damage = Damage()
        left = list(read_segment(whole[:length], damage))
        assert left == good[: len(left)]
        assert damage.torn_tail == (damage.bytes > 0)
        assert length - damage.bytes == len(b"".join(_frames(whole)[: len(left)]))


def _frames(whole: bytes) -> list[bytes]:
    return [MARK + part for part in whole.split(MARK)[1:]]


def test_reader_goes_on_behind_rubbish() -> None:
    whole = sample_segment(2)
    damage = Damage()
    mixed = b"rubbish" + MARK + whole + MARK * 3 + b"\0" * 100 + whole
    assert len(list(read_segment(mixed, damage))) == 6
    assert damage.places == 2
    assert not damage.torn_tail


def test_file_of_nothing_but_marks_is_given_up_soon() -> None:
    damage = Damage()
    hostile = (MARK + b"\0\0\1\0" + b"\1\2\3\4") * 20_000
    assert list(read_segment(hostile, damage)) == []
    assert damage.bytes == len(hostile)


@given(st.binary(max_size=400))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    assert list(read_segment(data)) == []
    framed = _framed(data)
    assert all(isinstance(row, Row) for row in read_segment(framed))


def _framed(payload: bytes) -> bytes:
    honest = frame(Record.LOST, 0, (0,))
    head = struct.pack("<4sII", MARK, len(payload), zlib.crc32(payload, len(payload)))
    assert len(head) == FRAME_BYTES < len(honest)
    return head + payload


@pytest.mark.parametrize(
    "values",
    [
        7,
        [],
        [2],
        [99, 0],
        ["2", 0, 1, 2, 3],
        [True, 0, 1, 2, 3],
        [2, "0", 1, 2, 3],
        [2, 0, 1, 2],
        [2, 0, 1, 2, "3"],
        [2, 0, 1, 2, True],
        {"kind": 2},
    ],
)
def test_what_is_no_known_record_is_passed_over(values: object) -> None:
    damage = Damage()
    assert list(read_segment(_framed(msgpack.packb(values)), damage)) == []
    assert (damage.unknown_records, damage.places) == (1, 0)


def test_record_of_a_newer_version_keeps_what_is_known() -> None:
    (row,) = read_segment(_framed(msgpack.packb([2, 5, 1, 2, 3, "new"])))
    assert row == Row(Record.HEALTH, 5, {"node": 1, "health": 2, "reason": 3})


def test_every_record_has_its_columns() -> None:
    assert set(SCHEMA) == set(Record)
    for fields in SCHEMA.values():
        names = [column.name for column in fields]
        assert len(set(names)) == len(names)


# An engine


class _Timer:
    def __init__(self, timer: Any) -> None:
        self.close: Callable[[], None] = timer.cancel


def test_engine_is_logged_with_health_views_counters_and_regions(tmp_path: Path) -> None:
    with Simulation(seed=3) as simulation:
        node, *others = simulation.add_nodes(3)

        def call_at(deadline_s: float, callback: Callable[[], None]) -> _Timer:
            return _Timer(simulation.call_later(deadline_s - simulation.time(), callback))

        log = EventLog(
            tmp_path,
            program="test",
            scope_label="",
            counter_names=counter_names(),
            wall_ns=lambda: int(simulation.time() * 1e9),
            clock=simulation.time,
        )
        logger = EngineLogger(node, log, call_at, simulation.time)
        recorders = [Recorder(each.join(GROUP_ID, KEY)) for each in (node, *others)]
        assert simulation.run_until(in_one_view(recorders))
        for number in range(10):
            recorders[1].send(b"%d" % number)
        simulation.run_for(25)
        logger.note("opened", objects=1)
        logger.close()
        logger.close()
        me = node.node
    kept = [row for path in closed(tmp_path) for row in rows(path)]
    kinds = {row.kind for row in kept}
    assert kinds == set(Record) - {Record.LOST, Record.LEFT, Record.DELIVERY}
    assert any(row.kind is Record.HEALTH and Health(row.values["health"]).admitted for row in kept)
    last_view = [row for row in kept if row.kind is Record.VIEW][-1]
    assert len(last_view.values["members"]) == 3
    assert last_view.values["node"] == me
    names = kept[0].values["counter_names"]
    samples = [row for row in kept if row.kind is Record.COUNTERS]
    delivered = dict(zip(names, samples[-1].values["values"], strict=True))["messages_delivered"]
    assert delivered == 10
    assert len(samples) >= 3
    assert not opened(tmp_path)


def test_groups_are_logged_with_what_they_cost_until_they_are_left(tmp_path: Path) -> None:
    with Simulation(seed=4) as simulation:
        node, other = simulation.add_nodes(2)

        def call_at(deadline_s: float, callback: Callable[[], None]) -> _Timer:
            return _Timer(simulation.call_later(deadline_s - simulation.time(), callback))

        log = EventLog(
            tmp_path,
            program="test",
            scope_label="",
            counter_names=counter_names(),
            wall_ns=lambda: int(simulation.time() * 1e9),
            clock=simulation.time,
        )
        logger = EngineLogger(node, log, call_at, simulation.time)
        recorders = [Recorder(each.join(GROUP_ID, KEY)) for each in (node, other)]
        assert simulation.run_until(in_one_view(recorders))
        recorders[0].send(b"own")
        recorders[1].send(b"other's")
        simulation.run_for(15)
        logger.delivered(recorders[0].group, other.node, 7, 0.002)
        simulation.run_for(30)
        node.leave(recorders[0].group)
        logger.close()
        me = node.node
    kept = [row for path in closed(tmp_path) for row in rows(path)]
    tallies = [row.values for row in kept if row.kind is Record.GROUP]
    assert len(tallies) <= 3, "a group in which nothing happened is not logged again"
    last = tallies[-1]
    assert (last["messages"], last["bytes"], last["own_messages"], last["own_bytes"]) == (
        *(2, 10, 1, 3),
    )
    (left,) = [row.values for row in kept if row.kind is Record.LEFT]
    assert left == {"node": me, "group": GROUP_ID}
    (delivery,) = [row.values for row in kept if row.kind is Record.DELIVERY]
    assert delivery["latency_ns"] == 2_000_000


@pytest.mark.parametrize("person", ["", "0123456789abcdef"])
def test_what_a_person_does_is_logged_only_for_those_who_agreed(
    tmp_path: Path, person: str
) -> None:
    with Simulation(seed=5) as simulation:
        node, other = simulation.add_nodes(2)

        def call_at(deadline_s: float, callback: Callable[[], None]) -> _Timer:
            return _Timer(simulation.call_later(deadline_s - simulation.time(), callback))

        log = make_log(tmp_path, Times(), clock=simulation.time)
        logger = EngineLogger(node, log, call_at, simulation.time, person=person)
        recorders = [Recorder(each.join(GROUP_ID, KEY)) for each in (node, other)]
        assert simulation.run_until(in_one_view(recorders))
        recorders[1].send(b"somebody else's")
        simulation.run_for(15)
        recorders[0].send(b"own")
        simulation.run_for(25)
        node.leave(recorders[0].group)
        logger.close()
    kept = [row for path in closed(tmp_path) for row in rows(path)]
    told = [row.values for row in kept if row.kind is Record.APPLICATION]
    if person:
        assert [each["name"] for each in told] == ["opened", "edited", "closed"]
        assert {each["values"]["person"] for each in told} == {person}
        assert {each["values"]["group"] for each in told} == {GROUP_ID.hex()}
    else:
        assert told == []


def test_what_is_only_fetched_was_not_opened_by_anybody(tmp_path: Path) -> None:
    with Simulation(seed=5) as simulation:
        (node,) = simulation.add_nodes(1)

        def call_at(deadline_s: float, callback: Callable[[], None]) -> _Timer:
            return _Timer(simulation.call_later(deadline_s - simulation.time(), callback))

        log = make_log(tmp_path, Times(), clock=simulation.time)
        logger = EngineLogger(node, log, call_at, simulation.time, person="0123456789abcdef")
        logger.fetched(GROUP_ID)
        for used in (False, True):
            recorder = Recorder(node.join(GROUP_ID, KEY))
            assert simulation.run_until(in_one_view([recorder]))
            if used:
                logger.used(GROUP_ID)
            node.leave(recorder.group)
            simulation.run_for(1)
        logger.close()
    kept = [row for path in closed(tmp_path) for row in rows(path)]
    told = [row.values["name"] for row in kept if row.kind is Record.APPLICATION]
    assert told == ["prefetched", "used", "opened", "closed"]


def test_whoever_wants_to_know_is_told_of_closed_segments(tmp_path: Path) -> None:
    told: list[int] = []
    log = make_log(tmp_path, Times(), on_closed=lambda: told.append(len(closed(tmp_path))))
    for _ in range(2):
        log.record(Record.LOST, 1)
        log.close()
    log.close()
    assert told == [1, 2]
