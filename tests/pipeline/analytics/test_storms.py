"""Storms and swings, each made on purpose, and quiet times in which neither must be seen."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pipeline.analytics.engines import GROWING
from pipeline.analytics.storms import storms, swings

COLUMNS = ("region", "bucket", "nodes", *GROWING, "repairs_sent_max", "pool_bytes_max")

Steps = dict[tuple[int, int], dict[str, int]]


def quiet(regions: int, buckets: int = 60) -> Steps:
    source = random.Random(7)
    return {
        (region, bucket): {
            "nodes": 10,
            "data_received": 20_000 + source.randrange(1000),
            "messages_delivered": 60_000 + source.randrange(9000),
            "packets_lost": source.randrange(40),
            "repairs_sent": source.randrange(40),
            "pulls_sent": source.randrange(40),
            "repairs_sent_max": 10,
        }
        for region in range(regions)
        for bucket in range(buckets)
    }


def frame(spark: SparkSession, steps: Steps) -> DataFrame:
    rows = [
        tuple({"region": region, "bucket": bucket, **values}.get(name, 0) for name in COLUMNS)
        for (region, bucket), values in steps.items()
    ]
    return spark.createDataFrame(rows, ", ".join(f"{name} long" for name in COLUMNS))


def storm(steps: Steps, region: int, **evidence: Any) -> None:
    for bucket in (40, 41, 43):
        steps[region, bucket] |= {"repairs_sent": 30_000, "pulls_sent": 30_000}
        steps[region, bucket] |= {"repairs_sent_max": 4000, **evidence}


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[int, Any]:
    steps = quiet(8)
    storm(steps, 1, packets_lost=9000)
    storm(steps, 2, regions_installed=20)
    storm(steps, 3, data_receive_full=500)
    storm(steps, 4, data_duplicate=25_000)
    storm(steps, 5, repairs_sent_max=28_000)
    storm(steps, 6)
    # As many repairs as usual is no storm, however many that is.
    for bucket in range(60):
        steps[7, bucket] |= {"repairs_sent": 30_000, "pulls_sent": 30_000}
    rows = storms(frame(spark, steps)).collect()
    assert len(rows) == 6
    return {row.region: row for row in rows}


@pytest.mark.parametrize(
    ("region", "cause"),
    [
        (1, "loss"),
        (2, "reconfiguration"),
        (3, "receivers do not keep up"),
        (4, "requests from stale state"),
        (5, "convoy"),
        (6, "unknown"),
    ],
)
def test_storm_has_its_cause(found: dict[int, Any], region: int, cause: str) -> None:
    row = found[region]
    assert row.cause.startswith(cause)
    assert (row.what, row.start_ns, row.seconds) == ("storm", 40 * 10**10, 40.0)
    assert row.repairs_max == 60_000


def test_swing_is_told_from_one_change(spark: SparkSession) -> None:
    steps = quiet(4)
    for bucket in range(20, 40):
        high = bucket // 2 % 2 == 0
        steps[1, bucket] |= {"messages_delivered": 130_000 if high else 9000}
        steps[1, bucket] |= {"data_receive_full": 50 if high else 0}
        steps[3, bucket] |= {"messages_delivered": 130_000 if high else 9000}
    # A rest of five minutes is no swing.
    for bucket in range(20, 50):
        steps[2, bucket] |= {"messages_delivered": 100}
    rows = {row.region: row for row in swings(frame(spark, steps)).collect()}
    assert set(rows) == {1, 3}
    assert rows[1].cause.startswith("receivers do not keep up")
    assert rows[3].cause.startswith("unknown")
    assert (rows[1].turns, rows[1].seconds) == (9, 200.0)
