"""Which objects have a long history that nobody is adding to: worth folding into a snapshot."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline.analytics.deliveries import tally_steps
from pipeline.sums import total

IDLE_NS = 3_600_000_000_000
MESSAGES_MIN = 1000


def compaction_candidates(samples: DataFrame) -> DataFrame:
    """Objects with many messages and no new one for an hour, the largest first.

    "For an hour" counts from the newest sample of all: a log that ended is no sign of rest.
    """
    steps = tally_steps(samples)
    of_node = steps.groupBy("group", "node").agg(
        total("messages").alias("messages"),
        total("bytes").alias("bytes"),
        F.max(F.when(F.col("messages") > 0, F.col("time_ns"))).alias("active_ns"),
    )
    newest = samples.agg(F.max("time_ns").alias("newest_ns"))
    return (
        of_node.groupBy("group")
        .agg(
            F.max("messages").alias("messages"),
            F.max("bytes").alias("bytes"),
            F.max("active_ns").alias("active_ns"),
        )
        .crossJoin(F.broadcast(newest))
        .withColumn("idle_ns", F.col("newest_ns") - F.col("active_ns"))
        .where((F.col("idle_ns") >= IDLE_NS) & (F.col("messages") >= MESSAGES_MIN))
        .select("group", "messages", "bytes", "active_ns", "idle_ns")
        .orderBy(F.desc("bytes"), "group")
    )
