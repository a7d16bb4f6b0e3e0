"""Generated logs: the same for a seed, of the size asked for, and of the shape of an office."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pipeline.errors import PipelineProblem
from pipeline.generator.office import OfficePlan, make_office
from pipeline.generator.options import TraceOptions
from pipeline.generator.trace import trace_tables
from pipeline.generator.write import write_landed, write_memberships, write_segments
from pipeline.landing.collect import collect
from pipeline.landing.naming import digest_of
from pipeline.landing.parquet_file import parquet_bytes

SMALL = OfficePlan(people=60, objects=120, department=20, team=5)


def test_same_seed_gives_the_same_bytes() -> None:
    options = TraceOptions(events=6000, hours=0.2, chunk_events=3000)

    def digests(seed: int) -> list[str]:
        tables = trace_tables(make_office(seed, SMALL), options)
        return [digest_of(parquet_bytes(table)) for table in tables]

    assert digests(1) == digests(1)
    assert set(digests(1)).isdisjoint(digests(2))


@pytest.mark.parametrize("count", [100, 5000, 23_456])
def test_as_many_events_as_asked_for(count: int) -> None:
    options = TraceOptions(events=count, hours=0.1, chunk_events=5000)
    tables = list(trace_tables(make_office(1, SMALL), options))
    assert sum(table.num_rows for table in tables) == count
    for table in tables:
        assert table.column("ordinal").to_pylist() == list(range(table.num_rows))
        times = table.column("time_ns").to_numpy()[1:]
        assert (np.diff(times) >= 0).all()


def test_popularity_is_of_zipf_and_members_are_of_units() -> None:
    office = make_office(3, OfficePlan())
    ordered = np.sort(office.rates)[::-1]
    assert ordered[0] / ordered[99] == pytest.approx(100**1.5, rel=1e-6)
    teams = [office.members[each] for each in np.flatnonzero(office.levels == 2)]
    assert all(len({person // 20 for person in members.tolist()}) == 1 for members in teams)
    missing = 1 - sum(map(len, teams)) / (20 * len(teams))
    assert missing == pytest.approx(0.02, abs=0.005)


def test_working_hours_are_busier_than_the_evening() -> None:
    options = TraceOptions(events=20_000, hours=16)
    table = pa.concat_tables(trace_tables(make_office(1, SMALL), options))
    deliveries = table.filter(pc.equal(table.column("kind"), "DELIVERY"))
    hours = deliveries.column("time_ns").to_numpy() // 3_600_000_000_000 % 24
    assert (hours == 10).sum() > 5 * (hours == 20).sum()


def test_segments_collected_are_what_lands_directly(tmp_path: Path) -> None:
    office = make_office(1, SMALL)
    options = TraceOptions(events=2000, hours=0.1)
    write_landed(office, options, tmp_path / "direct", lambda _: None)
    write_segments(office, options, tmp_path / "logs", lambda _: None)
    collect([tmp_path / "logs"], tmp_path / "landing")
    (direct,) = (tmp_path / "direct").iterdir()
    (collected,) = (tmp_path / "landing").iterdir()
    own = ["segment", "program", "scope"]
    expected = pa.parquet.read_table(direct).drop(own)
    assert pa.parquet.read_table(collected).drop(own).equals(expected)


def test_memberships_are_one_row_each(tmp_path: Path) -> None:
    office = make_office(1, SMALL)
    assert write_memberships(office, tmp_path) == office.memberships


@pytest.mark.parametrize(
    "wrong",
    [
        {"people": 1},
        {"objects": 0},
        {"people": 10**7},
        {"team": 0},
        {"team": 30, "department": 20},
        {"absences": 1.0},
    ],
)
def test_impossible_offices_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(PipelineProblem):
        OfficePlan(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"events": 0}, {"events": 10**12}, {"events": 100, "hours": 0}])
def test_impossible_traces_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(PipelineProblem):
        TraceOptions(**wrong)


def test_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    options = TraceOptions(events=100, hours=0.1)
    with pytest.raises(PipelineProblem, match="cannot be written"):
        write_landed(make_office(1, SMALL), options, tmp_path / "file" / "x", lambda _: None)
