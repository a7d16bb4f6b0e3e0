"""Throughput and latency of objects, from single deliveries and from the tallies of groups."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.sums import total

MINUTE_NS = 60_000_000_000
# Percentiles are within a ten-thousandth of the rank asked for.
ACCURACY = 10_000


def minute(time_ns: str = "time_ns") -> Column:
    """The minute of a time, as minutes since 1970."""
    return F.expr(f"{time_ns} div {MINUTE_NS}")


def percentiles(column: str, prefix: str) -> list[Column]:
    """Median, 95th and 99th percentile, from one summary of the values."""
    parts = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    all_three = F.percentile_approx(column, list(parts.values()), ACCURACY)
    return [all_three[place].alias(f"{prefix}_{name}") for place, name in enumerate(parts)]


def object_minutes(deliveries: DataFrame) -> DataFrame:
    """What was delivered of each object in each minute."""
    return (
        deliveries.groupBy("group", minute().alias("minute"))
        .agg(F.count("*").alias("messages"), total("bytes").alias("bytes"))
        .select("group", "minute", "messages", "bytes")
    )


def object_latency(deliveries: DataFrame) -> DataFrame:
    """How long messages of each object were under way, where it is known."""
    return deliveries.groupBy("group").agg(
        F.count("*").alias("messages"),
        total("bytes").alias("bytes"),
        *percentiles("latency_ns", "latency_ns"),
        F.max("latency_ns").alias("latency_ns_max"),
    )


TALLIES = ("messages", "bytes", "own_messages", "own_bytes")


def tally_steps(samples: DataFrame) -> DataFrame:
    """By how much the tallies of groups have grown from one sample to the next.

    A tally only grows while its node is in the group, and begins at 0 when it joins again: growth
    is the difference to the sample before, or the sample itself where it is smaller.
    """
    order = Window.partitionBy("node", "group").orderBy("time_ns", "messages")

    def grown(name: str) -> Column:
        before = F.coalesce(F.lag(name).over(order), F.lit(0))
        value = F.col(name)
        return F.when(value >= before, value - before).otherwise(value).alias(name)

    return samples.select("node", "group", "time_ns", *map(grown, TALLIES))


def group_minutes(samples: DataFrame) -> DataFrame:
    """What each group has cost in each minute, by its members' tallies."""
    return (
        tally_steps(samples)
        .groupBy("group", minute().alias("minute"))
        .agg(
            *(total(name).alias(name) for name in TALLIES),
            F.count_distinct("node").alias("nodes"),
        )
    )


def view_changes(views: DataFrame) -> DataFrame:
    """How often the members of each group changed, and how many they were."""
    hours = (F.max("time_ns") - F.min("time_ns")) / F.lit(3.6e12)
    changes = F.count_distinct("view")
    return views.groupBy("group").agg(
        changes.alias("views"),
        F.max("member_count").alias("members_max"),
        F.when(hours > 0, changes / hours).alias("views_per_hour"),
    )
