"""Storms and swings of regions, each with its most likely cause (thesis, 4.3.7).

A storm: repairs that outgrow by far what is usual in that region, and are no longer a small part of
its traffic. A swing: deliveries that go well above and well below their median in turn. Causes are
looked for in what the engines counted just before and meanwhile; the evidence is given with the
verdict, for whoever would judge otherwise.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.analytics.engines import with_runs
from pipeline.sums import total

# Buckets are ten seconds.
USUAL_BUCKETS = 30
STORM_FACTOR = 8.0
STORM_SHARE = 0.2
BEFORE_BUCKETS = 3
GAP_BUCKETS = 2

SWING = 0.4
SWINGS_MIN = 4
SWING_GAP_BUCKETS = 12

RECONFIGURATION = "reconfiguration: regions were made anew"
OVERRUN = "receivers do not keep up: packets were refused for want of room"
STALE = "requests from stale state: much of what was repaired had arrived already"
CONVOY = "convoy: most repairs came from one node"
LOSS = "loss: packets went missing on the way"
UNKNOWN = "unknown: nothing that was counted explains it"

_EVIDENCE = (
    *("packets_lost", "data_received", "repairs_sent", "data_duplicate", "data_receive_full"),
    *("dropped_no_buffer", "regions_installed", "rate_decreases"),
)


def storms(region_steps: DataFrame) -> DataFrame:
    """One row for each storm: where, from when to when, how bad, and why."""
    order = Window.partitionBy("region").orderBy("bucket")
    usual = order.rowsBetween(-USUAL_BUCKETS, -1)
    repairs = F.col("repairs_sent") + F.col("pulls_sent")
    marked = (
        region_steps.withColumn("repairs", repairs)
        .withColumn("usual", F.percentile_approx("repairs", 0.5).over(usual))
        .withColumn(
            "storm",
            (F.col("repairs") > STORM_FACTOR * (F.coalesce("usual", F.lit(0)) + F.lit(1)))
            & (F.col("repairs") > STORM_SHARE * F.col("data_received"))
            & F.col("usual").isNotNull(),
        )
    )
    lead_in = order.rowsBetween(-BEFORE_BUCKETS, 0)
    seen = marked.select(
        "region",
        "bucket",
        "storm",
        "repairs",
        "usual",
        "repairs_sent_max",
        "nodes",
        *(F.max(name).over(lead_in).alias(name) for name in _EVIDENCE),
    )
    runs = with_runs(seen.where("storm"), ["region"], "bucket", GAP_BUCKETS)
    found = runs.groupBy("region", "run").agg(
        F.min("bucket").alias("first"),
        F.max("bucket").alias("last"),
        F.max("repairs").alias("repairs_max"),
        F.min("usual").alias("repairs_usual"),
        F.max("nodes").alias("nodes"),
        F.max("repairs_sent_max").alias("repairs_of_one_max"),
        *(F.max(name).alias(name) for name in _EVIDENCE),
    )
    return _told(found, "storm", _storm_cause())


def swings(region_steps: DataFrame) -> DataFrame:
    """One row for each time in which a region's deliveries swung."""
    around = (
        Window.partitionBy("region").orderBy("bucket").rowsBetween(-USUAL_BUCKETS, USUAL_BUCKETS)
    )
    median = F.percentile_approx("messages_delivered", 0.5).over(around)
    relative = F.col("messages_delivered") / F.nullif(F.col("median"), F.lit(0)) - F.lit(1)
    far = (
        region_steps.withColumn("median", median)
        .withColumn("relative", relative)
        .where(F.abs("relative") > SWING)
        .withColumn("high", F.col("relative") > 0)
    )
    runs = with_runs(far, ["region"], "bucket", SWING_GAP_BUCKETS)
    order = Window.partitionBy("region", "run").orderBy("bucket")
    turned = F.coalesce(F.col("high") != F.lag("high").over(order), F.lit(False))
    found = (
        runs.withColumn("turned", turned.cast("int"))
        .groupBy("region", "run")
        .agg(
            F.min("bucket").alias("first"),
            F.max("bucket").alias("last"),
            F.sum("turned").alias("turns"),
            F.max("nodes").alias("nodes"),
            F.max("repairs_sent").alias("repairs_max"),
            F.lit(None).cast("bigint").alias("repairs_usual"),
            F.max("repairs_sent_max").alias("repairs_of_one_max"),
            *(total(name).alias(name) for name in _EVIDENCE),
        )
        .where(F.col("turns") >= SWINGS_MIN)
    )
    return _told(found, "swing", _swing_cause(), turns=F.col("turns"))


def _storm_cause() -> Column:
    share = F.col("packets_lost") / F.greatest(
        F.col("packets_lost") + F.col("data_received"), F.lit(1)
    )
    return (
        F.when(F.col("regions_installed") > F.col("nodes") / 2, RECONFIGURATION)
        .when(F.col("data_receive_full") + F.col("dropped_no_buffer") > 0, OVERRUN)
        .when(F.col("data_duplicate") > 0.5 * F.col("repairs_sent"), STALE)
        .when(
            (F.col("nodes") > 2) & (F.col("repairs_of_one_max") > 0.6 * F.col("repairs_sent")),
            CONVOY,
        )
        .when(share > 0.02, LOSS)
        .otherwise(UNKNOWN)
    )


def _swing_cause() -> Column:
    return (
        F.when(F.col("data_receive_full") + F.col("dropped_no_buffer") > 0, OVERRUN)
        .when(F.col("regions_installed") > F.col("turns") / 2, RECONFIGURATION)
        .when(F.col("packets_lost") > 0.02 * F.col("data_received"), LOSS)
        .otherwise(UNKNOWN)
    )


def _told(found: DataFrame, what: str, cause: Column, turns: Column | None = None) -> DataFrame:
    seconds = (F.col("last") - F.col("first") + 1) * F.lit(10.0)
    count = turns if turns is not None else F.lit(None)
    return found.select(
        F.lit(what).alias("what"),
        "region",
        (F.col("first") * F.lit(10_000_000_000)).alias("start_ns"),
        seconds.alias("seconds"),
        cause.alias("cause"),
        count.cast("bigint").alias("turns"),
        "nodes",
        "repairs_max",
        "repairs_usual",
        *_EVIDENCE,
    )
