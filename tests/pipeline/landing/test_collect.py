"""Closed segments land whole, once, and with word of what was damaged in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pipeline.errors import PipelineProblem
from pipeline.landing import collect as collecting
from pipeline.landing.collect import collect
from pipeline.landing.naming import digest_in, digest_of
from pipeline.landing.parquet_file import ARROW_SCHEMA
from pipeline.landing.segment import OUT_OF_RANGE_ROWS_MAX, segment_rows
from pipeline.landing.segment_file import land_segment
from tests.pipeline.tables import table_of
from transport.event_log import EventLog
from transport.event_log_schema import MARK, Record, frame

HEAD = frame(Record.SEGMENT, 10, (1, "test", "scope", 0, ["one"]))


def segment(records: int = 5) -> bytes:
    body = [frame(Record.HEALTH, 11 + n, (2**64 - 1 - n, 3, 1)) for n in range(records)]
    return HEAD + b"".join(body)


def list_of(data: bytes) -> list[dict[str, Any]]:
    return list(segment_rows(data))


def landed(folder: Path) -> list[dict[str, Any]]:
    return [
        row for path in sorted(folder.glob("*.parquet")) for row in pq.read_table(path).to_pylist()
    ]


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / "closed" / f"{name}.events"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_what_a_program_wrote_lands_and_its_segment_goes(tmp_path: Path) -> None:
    now = 100.0
    log = EventLog(
        tmp_path / "logs",
        program="test",
        scope_label="ab",
        counter_names=("one",),
        wall_ns=lambda: 1_800_000_000_000_000_000,
        clock=lambda: now,
    )
    log.record(Record.VIEW, 2**63 + 5, bytes(16), 1, [2**63 + 5, 7])
    log.flush()
    logs, landing = tmp_path / "logs", tmp_path / "landing"
    assert collect([logs], landing).segments == 0, "an open segment is nobody's business"
    log.close()
    done = collect([logs], landing)
    assert (done.segments, done.rows, done.refused) == (1, 2, 0)
    head, view = landed(landing)
    assert (head["kind"], head["counter_names"], head["scope"]) == ("SEGMENT", ["one"], "ab")
    assert view["members"] == [5 - 2**63, 7]
    assert (view["group"], view["member_count"], view["ordinal"]) == ("00" * 16, 2, 1)
    assert not list((logs / "closed").iterdir())
    assert not [path for path in landing.iterdir() if path.suffix != ".parquet"]


def test_landing_again_gives_the_same_file(tmp_path: Path) -> None:
    put(tmp_path / "a", "one", segment())
    put(tmp_path / "b", "one", segment())
    landing = tmp_path / "landing"
    collect([tmp_path / "a"], landing, keep=True)
    before = {path.name: path.read_bytes() for path in landing.iterdir()}
    collect([tmp_path / "a", tmp_path / "b"], landing)
    assert {path.name: path.read_bytes() for path in landing.iterdir()} == before
    (name,) = before
    assert digest_in(name) == digest_of(before[name])
    file = pq.ParquetFile(landing / name)
    assert file.schema_arrow == ARROW_SCHEMA
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_collector_that_dies_while_writing_leaves_nothing_that_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path, "one", segment())

    def full(*_: object) -> None:
        raise PipelineProblem("the disk is full")

    monkeypatch.setattr(collecting, "land_segment", full)
    with pytest.raises(PipelineProblem, match="disk is full"):
        collect([tmp_path], tmp_path / "landing")
    assert path.exists(), "a segment goes only when its file is in place"
    monkeypatch.undo()
    assert collect([tmp_path], tmp_path / "landing").rows == 6


@pytest.mark.parametrize("cut", [1, 7, 20])
def test_torn_end_is_told(cut: int) -> None:
    rows = list_of(segment()[:-cut])
    assert [row["kind"] for row in rows] == ["SEGMENT", *["HEALTH"] * 4, "DAMAGED"]
    told = json.loads(rows[-1]["details"])
    assert told["what"] == "torn end"
    assert told["sample"].startswith(MARK.hex())
    assert {row["segment"] for row in rows} == {rows[0]["segment"]}


def test_damaged_place_costs_its_record_and_is_told() -> None:
    data = bytearray(segment())
    data[len(HEAD) + 15] ^= 4
    rows = list_of(bytes(data))
    assert [row["kind"] for row in rows].count("HEALTH") == 4
    (damaged,) = [row for row in rows if row["kind"] == "DAMAGED"]
    assert json.loads(damaged["details"])["offset"] == len(HEAD)


def test_segment_without_its_head_has_no_version() -> None:
    rows = list_of(segment()[len(HEAD) :])
    assert len(rows) == 5
    assert all("version" not in row for row in rows)


def test_records_out_of_range_are_told_within_bounds() -> None:
    bad = frame(Record.HEALTH, 2**63 + 1, (1, 3, 1)) * (2 * OUT_OF_RANGE_ROWS_MAX)
    rows = list_of(HEAD + bad)
    assert len(rows) == 1 + OUT_OF_RANGE_ROWS_MAX + 1
    assert json.loads(rows[-1]["details"]) == {"what": "out of range", "records": 200}


def test_nothing_but_rubbish_lands_as_one_damaged_place(tmp_path: Path) -> None:
    put(tmp_path, "rubbish", bytes(5000))
    put(tmp_path, "empty", b"")
    done = collect([tmp_path], tmp_path / "landing")
    assert (done.segments, done.rows) == (2, 1)


def test_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PipelineProblem, match="is not a folder"):
        collect([tmp_path / "none"], tmp_path / "landing")


def test_landing_in_the_way_of_a_file_is_refused(tmp_path: Path) -> None:
    path = put(tmp_path, "one", segment())
    (tmp_path / "landing").write_text("in the way")
    with pytest.raises(PipelineProblem, match="cannot be written"):
        collect([tmp_path], tmp_path / "landing")
    assert path.exists()


def test_file_larger_than_any_segment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "SEGMENT_FILE_BYTES_MAX", 10)
    path = put(tmp_path, "large", segment())
    told: list[str] = []
    assert collect([tmp_path], tmp_path / "landing", tell=told.append).refused == 1
    assert path.exists()
    assert "larger than any segment" in told[0]


@pytest.mark.parametrize(
    "name", ["notes.parquet", "x-0123456789abcde.parquet", "x-0123456789ABCDEF.parquet", ".parquet"]
)
def test_other_names_promise_nothing(name: str) -> None:
    assert digest_in(name) is None


def test_files_by_duckdb_and_by_arrow_hold_the_same(tmp_path: Path) -> None:
    odd = [
        frame(Record.APPLICATION, 12, (7, "edited", {"text": 'a"b\\ \0 é 漢 😀\n', "n": 1.5})),
        frame(Record.VIEW, 13, (2**63, bytes(range(16)), 2**62, [2**64 - 1, 0])),
        frame(Record.REGION, 14, (1, 2**64 - 1, 3, 3, 1, 2, 0, 9, 10, 11, True)),
        frame(Record.LOST, 15, (4,)),
    ]
    data = segment() + b"".join(odd)
    put(tmp_path, "odd", data)
    assert collect([tmp_path], tmp_path / "landing").rows == 10
    (file,) = (tmp_path / "landing").iterdir()
    assert pq.read_table(file).to_pylist() == table_of(list_of(data)).to_pylist()


def test_row_that_no_parquet_file_takes_leaves_its_segment(tmp_path: Path) -> None:
    with pytest.raises(PipelineProblem, match="cannot be made into Parquet"):
        land_segment([{"version": "not a number"}], tmp_path / "landing", "odd")
    assert land_segment([], tmp_path / "landing", "none") == 0
    assert not (tmp_path / "landing").exists()
