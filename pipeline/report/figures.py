"""The figures of a report, read from the tables of the store: small, plain, and without Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.errors import PipelineProblem
from pipeline.ingest.store import Store
from pipeline.results import Results
from pipeline.sums import total

ROWS_MAX = 20
TROUBLE_MAX = 10_000
# Of a plot of timelines.
LINES_MAX = 12
SPANS_MAX = 3000

Rows = list[dict[str, Any]]


@dataclass(slots=True)
class Figures:
    """Everything that a report says; a list is empty and a fact None where its job did not run."""

    facts: dict[str, Any]
    planning: dict[str, Any] | None = None
    activity: dict[str, Any] | None = None
    network_minutes: Rows = field(default_factory=list)
    region_minutes: Rows = field(default_factory=list)
    object_minutes: Rows = field(default_factory=list)
    objects: Rows = field(default_factory=list)
    regions: Rows = field(default_factory=list)
    nodes: Rows = field(default_factory=list)
    trouble: Rows = field(default_factory=list)
    bursts: Rows = field(default_factory=list)
    groups: Rows = field(default_factory=list)
    together: Rows = field(default_factory=list)
    compaction: Rows = field(default_factory=list)
    object_days: Rows = field(default_factory=list)
    object_times: Rows = field(default_factory=list)
    person_times: Rows = field(default_factory=list)
    sets: Rows = field(default_factory=list)
    refused: Rows = field(default_factory=list)


def read_figures(spark: SparkSession, store: Store) -> Figures:
    """The newest tables of all jobs."""
    analytics = Results(spark, store.storage, "analytics")
    planning = Results(spark, store.storage, "planning")
    activity = Results(spark, store.storage, "activity")
    facts = analytics.facts()
    if facts is None:
        raise PipelineProblem(
            f"{store.storage.root} has no figures yet: run live-objects pipeline analyse first."
        )
    by_minute = analytics.read("object_minutes")
    if by_minute is not None:
        by_minute = by_minute.groupBy("minute").agg(
            F.sum("messages").alias("messages"), total("bytes").alias("bytes")
        )
    together = activity.read("together")
    if together is not None:
        together = together.where(F.col("lift") > 1)
    refused = [row for manifest in store.manifests() for row in manifest["refused_files"]]
    return Figures(
        facts=facts,
        planning=planning.facts(),
        activity=activity.facts(),
        network_minutes=_rows(analytics.read("network_minutes"), "minute", None),
        region_minutes=_rows(analytics.read("region_minutes"), "minute", None),
        object_minutes=_rows(by_minute, "minute", None),
        objects=_rows(analytics.read("object_latency"), "-messages"),
        regions=_rows(analytics.read("regions"), "-token_round_ns_p95"),
        nodes=_rows(analytics.read("nodes"), "-loss"),
        trouble=_rows(analytics.read("trouble"), "-start_ns", TROUBLE_MAX),
        bursts=_rows(analytics.read("bursts"), "-packets_lost"),
        groups=_rows(_groups(analytics), "-messages"),
        together=_rows(together, "-together"),
        compaction=_rows(activity.read("compaction"), "-bytes"),
        object_days=_rows(activity.read("object_days"), "-people"),
        object_times=_busiest(activity.read("timelines"), "group"),
        person_times=_busiest(activity.read("timelines"), "person"),
        sets=_rows(planning.read("sets"), "-bytes"),
        refused=refused[:ROWS_MAX],
    )


def _groups(analytics: Results) -> DataFrame | None:
    """What went through each group over the whole time, and how its members changed."""
    minutes, views = analytics.read("group_minutes"), analytics.read("views")
    if minutes is None or views is None:
        return None
    sums = (total(name).alias(name) for name in ("messages", "bytes", "own_messages"))
    return minutes.groupBy("group").agg(*sums).join(views, "group", "left")


def _busiest(timelines: DataFrame | None, key: str) -> Rows:
    """The times of those objects or people that were at work for longest, one after the other."""
    if timelines is None:
        return []
    longest = timelines.groupBy(key).agg(
        F.sum(F.col("end_ns") - F.col("start_ns")).alias("worked"), F.count("*").alias("times")
    )
    chosen = longest.orderBy(F.desc("worked"), F.desc("times"), key).limit(LINES_MAX)
    ordered = timelines.join(chosen, key).orderBy(F.desc("worked"), key, F.desc("start_ns"))
    return [row.asDict() for row in ordered.limit(SPANS_MAX).collect()]


def _rows(table: DataFrame | None, order: str, rows_max: int | None = ROWS_MAX) -> Rows:
    """The rows as dictionaries, in the order of a column, a minus for the largest first."""
    if table is None:
        return []
    column = order.removeprefix("-")
    ordered = table.orderBy(F.desc(column) if order != column else F.asc(column))
    limited = ordered if rows_max is None else ordered.limit(rows_max)
    return [row.asDict() for row in limited.collect()]
