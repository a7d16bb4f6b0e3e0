"""Logs in which nothing happens, or all at once: every table is made of them all the same."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipeline.activity.compaction import compaction_candidates
from pipeline.analytics.job import tables_of
from pipeline.columns import NUMBER_MAX
from pipeline.ingest.transform import OUT_OF_RANGE, classify, stored
from pipeline.planning.transform import read_interest
from pipeline.sums import SUM_MAX, total
from tests.pipeline.conftest import NOW_NS, Events

DAY_NS = 86_400_000_000_000
SECOND_NS = 1_000_000_000
NAMES = ["packets_lost", "data_received", "repairs_sent", "pulls_sent", "messages_delivered"]


def rows_with(amount: int, node: int = 1) -> list[dict[str, Any]]:
    """A little of every kind, in which every amount is this one."""
    segment = str(node)
    rows: list[dict[str, Any]] = [
        {"kind": "SEGMENT", "counter_names": NAMES, "segment": segment},
    ]
    tally = dict.fromkeys(("messages", "bytes", "own_messages", "own_bytes"), amount)
    times = dict.fromkeys(("acknowledgement_ns", "token_round_ns", "rate_bytes_per_s"), amount)
    for number in range(40):
        # What was counted goes up and down, so that steps are as large as they can be.
        counters = [amount * (number % 2)] * len(NAMES)
        rows += [
            {"kind": "COUNTERS", "node": node, "counters": counters, "segment": segment},
            {"kind": "DELIVERY", "node": node, "sender": 2, "bytes": amount, "latency_ns": amount},
            {"kind": "GROUP", "node": node, "member_count": amount, **tally},
            {"kind": "REGION", "node": node, "region": node, "member_count": amount, **times},
            {"kind": "VIEW", "node": node, "view": amount, "members": [1], "member_count": 1},
            {"kind": "LOST", "lost": amount},
        ]
        for row in rows[-6:]:
            row["time_ns"] = NOW_NS - DAY_NS + number * 10 * SECOND_NS
            if row["kind"] in ("DELIVERY", "GROUP", "VIEW"):
                row["group"] = f"{node:032x}"
    return [{"time_ns": NOW_NS - DAY_NS, **row} for row in rows]


def made_of(spark: SparkSession, rows: DataFrame) -> dict[str, list[Any]]:
    """Every table, computed."""

    def events(*kinds: str) -> DataFrame:
        return rows.where(rows.kind.isin(*kinds))

    tables = tables_of(events) | {"compaction": compaction_candidates(events("GROUP"))}
    found = {name: table.collect() for name, table in tables.items()}
    read_interest(spark, events("GROUP"), events("VIEW"))
    spark.catalog.clearCache()
    return found


def test_rest_and_the_largest_amounts_make_no_job_fail(spark: SparkSession, events: Events) -> None:
    rest, busy = rows_with(0, node=1), rows_with(NUMBER_MAX, node=2)
    frame = stored(classify(events([*rest, *busy]), NOW_NS, 31 * DAY_NS))
    assert frame.count() == len(rest) + len(busy)
    found = made_of(spark, frame)
    assert {row.node: row.loss for row in found["nodes"]} == {1: 0.0, 2: 0.5}
    assert {row.node for row in found["bursts"]} == {2}
    sums = {(row.group[-1], row.minute): row.bytes for row in found["object_minutes"]}
    assert {bytes_ for (group, _), bytes_ in sums.items() if group == "1"} == {0}
    assert max(sums.values()) == 6 * NUMBER_MAX


def test_sums_end_where_numbers_do(spark: SparkSession) -> None:
    sums = spark.createDataFrame([(2**62,)] * 5, "n long").agg(total("n")).collect()
    assert sums[0][0] == SUM_MAX
    assert spark.createDataFrame([], "n long").agg(total("n")).collect()[0][0] is None


def test_amounts_beyond_anything_real_and_groups_that_are_none_are_set_aside(
    events: Events,
) -> None:
    base = rows_with(5)
    tally = next(row for row in base if row["kind"] == "GROUP")
    counted = next(row for row in base if row["kind"] == "COUNTERS")
    odd = [
        {**tally, "bytes": NUMBER_MAX + 1},
        {**tally, "own_messages": 2**63 - 1},
        {**tally, "messages": -1},
        {**tally, "group": "not a group"},
        {**tally, "group": "0F" * 16},
        {**tally, "group": "0f"},
        {**counted, "counters": [1, NUMBER_MAX + 1]},
        {**counted, "counters": [-(2**63), 2]},
    ]
    frame = classify(events([*base, *odd]), NOW_NS, 31 * DAY_NS)
    assert frame.where(frame.problem == OUT_OF_RANGE).count() == len(odd)
    assert frame.where(frame.problem.isNull()).count() == len(base)
