"""The analytics job: events of the store in, tables of figures out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.analytics import deliveries, engines, storms
from pipeline.ingest import verify
from pipeline.ingest.store import Store
from pipeline.results import Results
from pipeline.sums import total

JOB = "analytics"


def tables_of(events: Callable[..., DataFrame]) -> dict[str, DataFrame]:
    """Every table, by name; `events` gives the events of some kinds."""
    single = events("DELIVERY")
    regions = events("REGION")
    steps = engines.counter_steps(events("COUNTERS"), events("SEGMENT")).cache()
    by_region = engines.region_steps(steps, regions).cache()
    return {
        "object_minutes": deliveries.object_minutes(single),
        "object_latency": deliveries.object_latency(single),
        "group_minutes": deliveries.group_minutes(events("GROUP")),
        "views": deliveries.view_changes(events("VIEW")),
        "nodes": engines.node_totals(steps),
        "bursts": engines.loss_bursts(steps),
        "regions": engines.region_times(regions).join(
            engines.region_totals(by_region), "region", "left"
        ),
        "region_minutes": _region_minutes(regions),
        "network_minutes": _network_minutes(steps),
        "trouble": storms.storms(by_region).unionByName(storms.swings(by_region)),
    }


def _region_minutes(regions: DataFrame) -> DataFrame:
    """For a plot of time: what regions waited for, in each minute."""
    known = regions.select(
        deliveries.minute().alias("minute"),
        engines.measured("acknowledgement_ns"),
        engines.measured("token_round_ns"),
        "unacknowledged",
    )
    return known.groupBy("minute").agg(
        *deliveries.percentiles("acknowledgement_ns", "acknowledgement_ns"),
        *deliveries.percentiles("token_round_ns", "token_round_ns"),
        F.avg("unacknowledged").alias("pending_mean"),
    )


def _network_minutes(steps: DataFrame) -> DataFrame:
    """For a plot of time: what all nodes did together, in each minute."""
    sums = ("data_received", "packets_lost", "repairs_sent", "messages_delivered", "bytes_received")
    return steps.groupBy(deliveries.minute().alias("minute")).agg(
        *(total(name).alias(name) for name in sums),
        F.max("pool_bytes_now").alias("pool_bytes_max"),
    )


def analyse(
    spark: SparkSession,
    store: Store,
    run: str,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Writes the tables and gives the facts of the run."""
    store.check_not_empty()
    rows: dict[str, int] = {}
    aside: dict[str, int] = {}
    refused = 0
    for manifest in store.manifests():
        for kind, count in manifest["rows"].items():
            rows[kind] = rows.get(kind, 0) + count
        for problem, count in manifest["problems"].items():
            aside[problem] = aside.get(problem, 0) + count
        refused += sum(
            count for verdict, count in manifest["files"].items() if verdict != verify.GOOD
        )
    lost = store.events("LOST").agg(total("lost")).collect()[0][0] or 0
    facts = {"rows": rows, "set_aside": aside, "refused_files": refused, "lost_by_writers": lost}
    Results(spark, store.storage, JOB).write(run, tables_of(store.events), facts, tell)
    spark.catalog.clearCache()
    return facts
