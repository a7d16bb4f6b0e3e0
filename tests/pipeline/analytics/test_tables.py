"""Every table against plain Python on small inputs, and against DuckDB on a generated trace."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipeline.analytics import deliveries, engines
from pipeline.analytics.job import analyse
from pipeline.bench.duckdb_side import FIGURES, connect
from pipeline.bench.python_side import read
from pipeline.errors import PipelineProblem
from pipeline.ingest.store import Store
from pipeline.results import Results
from tests.pipeline.conftest import Events

MINUTE_NS = 60_000_000_000


def test_deliveries_are_summed_as_plain_python_does(events: Events) -> None:
    """A hundred small inputs at once: each has groups of its own."""
    source = random.Random(5)
    rows: list[dict[str, Any]] = []
    for case in range(100):
        rows += [
            {
                "kind": "DELIVERY",
                "group": f"{case}-{source.randrange(3)}",
                "time_ns": source.randrange(4 * MINUTE_NS),
                "bytes": source.randrange(1000),
                "latency_ns": source.randrange(50),
            }
            for _ in range(source.randrange(8))
        ]
    minutes: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
    latencies: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        sums = minutes[row["group"], row["time_ns"] // MINUTE_NS]
        sums[0] += 1
        sums[1] += row["bytes"]
        latencies[row["group"]].append(row["latency_ns"])
    frame = events(rows)
    found = deliveries.object_minutes(frame)
    assert found.schema.simpleString() == (
        "struct<group:string,minute:bigint,messages:bigint,bytes:bigint>"
    )
    assert {
        (row.group, row.minute): [row.messages, row.bytes] for row in found.collect()
    } == minutes
    for row in deliveries.object_latency(frame).collect():
        ordered = sorted(latencies[row.group])
        assert row.messages == len(ordered)
        assert row.latency_ns_max == ordered[-1]
        assert row.latency_ns_p50 == ordered[(len(ordered) + 1) // 2 - 1]


def test_tallies_that_begin_again_are_not_negative(events: Events) -> None:
    def tally(time_ns: int, messages: int, node: int = 1) -> dict[str, Any]:
        sums = {"messages": messages, "bytes": 10 * messages, "own_messages": 0, "own_bytes": 0}
        return {"kind": "GROUP", "group": "g", "node": node, "time_ns": time_ns, **sums}

    rows = [tally(0, 5), tally(1, 8), tally(2, 2), tally(MINUTE_NS, 4), tally(0, 7, node=2)]
    found = deliveries.group_minutes(events(rows)).collect()
    assert {(row.minute, row.messages, row.bytes, row.nodes) for row in found} == {
        (0, 5 + 3 + 2 + 7, 170, 2),
        (1, 2, 20, 1),
    }


def test_counters_of_two_versions_are_read_by_their_names(events: Events) -> None:
    heads = [
        {"kind": "SEGMENT", "segment": "old", "counter_names": ["packets_lost", "data_received"]},
        {"kind": "SEGMENT", "segment": "new", "counter_names": ["x", "data_received"]},
    ]
    samples = [
        {"segment": "old", "node": 1, "time_ns": 0, "counters": [1, 100]},
        {"segment": "old", "node": 1, "time_ns": 10**10, "counters": [4, 150]},
        # Shorter than its names, or without a head: null, or left out, never a failure.
        {"segment": "old", "node": 1, "time_ns": 2 * 10**10, "counters": [5]},
        {"segment": "new", "node": 2, "time_ns": 0, "counters": [7, 1]},
        {"segment": "new", "node": 2, "time_ns": 10**10, "counters": [99, 3]},
        {"segment": "none", "node": 3, "time_ns": 0, "counters": [1]},
    ]
    counters = events([{"kind": "COUNTERS", **row} for row in samples])
    found = engines.counter_steps(counters, events(heads)).collect()
    told = {(row.node, row.time_ns): (row.packets_lost, row.data_received) for row in found}
    assert told == {(1, 10**10): (3, 50), (1, 2 * 10**10): (1, 0), (2, 10**10): (0, 2)}


def test_bursts_are_runs_of_bad_steps(spark: SparkSession) -> None:
    """Random runs of good and bad steps, and the same found by walking along them."""
    source = random.Random(6)
    rows, expected = [], set()
    for node in range(40):
        time_ns, run = 0, None
        for _ in range(source.randrange(30)):
            time_ns += source.choice([10, 10, 10, 30]) * 10**9
            lost = source.choice([0, 0, 40])
            rows.append((node, time_ns, 10.0, lost, 100))
            if lost:
                if run is None or time_ns - run[1] > engines.BURST_GAP_NS:
                    if run is not None:
                        expected.add((node, *run))
                    run = (time_ns, time_ns, 0)
                run = (run[0], time_ns, run[2] + lost)
        if run is not None:
            expected.add((node, *run))
    ddl = "node long, time_ns long, step_s double, packets_lost long, data_received long"
    found = engines.loss_bursts(spark.createDataFrame(rows, ddl)).collect()
    assert {(row.node, row.start_ns, row.end_ns, row.packets_lost) for row in found} == expected


@pytest.fixture(scope="module")
def results(spark: SparkSession, store: Store) -> Results:
    analyse(spark, store, "first")
    return Results(spark, store.storage, "analytics")


def test_all_figures_are_those_of_duckdb_and_of_plain_python(
    results: Results, landing: Path
) -> None:
    database = connect(str(landing))
    counts = read(str(landing)).counts()
    for name, query in FIGURES.items():
        cursor = database.execute(query)
        columns = [column[0] for column in cursor.description or ()]
        expected = cursor.fetchall()
        table = results.read(name)
        assert table is not None
        keys = ["group", "minute", "region", "node", "start_ns"]
        order = [column for column in columns if column in keys]
        found = table.select(*columns).collect()
        assert len(found) == len(expected) == counts[name]
        for mine, other in zip(
            sorted(found, key=lambda row: tuple(row[key] for key in order)),
            sorted(expected, key=lambda row: tuple(row[columns.index(key)] for key in order)),
            strict=True,
        ):
            assert [mine[key] for key in order] == [other[columns.index(key)] for key in order]
            numbers = [place for place, column in enumerate(columns) if column not in keys]
            wanted = [other[place] for place in numbers]
            assert [mine[place] for place in numbers] == pytest.approx(wanted, rel=0.01), name


def test_faults_of_the_trace_are_found_with_their_causes(results: Results) -> None:
    trouble = results.read("trouble")
    assert trouble is not None
    found = sorted((row.what, row.region, row.cause.partition(":")[0]) for row in trouble.collect())
    assert found == [
        ("storm", 1, "loss"),
        ("storm", 2, "reconfiguration"),
        ("swing", 3, "receivers do not keep up"),
    ]


def test_new_run_replaces_the_old_one(spark: SparkSession, store: Store, results: Results) -> None:
    table = spark.createDataFrame([(1,)], "x int")
    other = Results(spark, store.storage, "other")
    other.write("one", {"t": table}, {"n": 1})
    other.write("two", {"t": table.union(table)}, {"n": 2})
    assert other.facts() == {"n": 2}
    found = other.read("t")
    assert found is not None
    assert found.count() == 2
    assert store.storage.folders("other") == ["run=two"]
    assert other.read("none") is None
    Path(store.storage.root, "other", "current.json").write_text("{}")
    Path(store.storage.root, "other", ".current.json.crc").unlink(missing_ok=True)
    with pytest.raises(PipelineProblem, match="is damaged"):
        other.facts()
