"""From events to interest: who was in which group, and what went through each."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.analytics.deliveries import tally_steps
from pipeline.errors import PipelineProblem
from pipeline.planning.interest import Interest, as_bits

NODES_MAX = 200_000


def memberships(samples: DataFrame, views: DataFrame) -> DataFrame:
    """Who was in which group at any time, with what it received there."""
    received = tally_steps(samples).select("node", "group", "bytes", "own_bytes")
    joined = views.select("node", "group", F.lit(0).alias("bytes"), F.lit(0).alias("own_bytes"))
    return (
        received.unionByName(joined)
        .groupBy("group", "node")
        .agg(F.sum("bytes").alias("bytes"), F.sum("own_bytes").alias("own_bytes"))
    )


def group_traffic(members: DataFrame) -> DataFrame:
    """What went through each group.

    Everybody receives everything, so the member that received most has it; but where not all log,
    the sum of what members sent may be more.
    """
    return members.groupBy("group").agg(
        F.greatest(F.max("bytes"), F.sum("own_bytes")).alias("bytes"),
    )


def read_interest(spark: SparkSession, members: DataFrame) -> Interest:
    """The memberships on this computer, as sets of bits; nodes are numbered by their ids."""
    members = members.cache()
    nodes = [row.node for row in members.select("node").distinct().orderBy("node").collect()]
    if not nodes:
        raise PipelineProblem("The store knows of no groups: nothing can be planned yet.")
    if len(nodes) > NODES_MAX:
        raise PipelineProblem(
            f"Plans are for at most {NODES_MAX} nodes, the store has {len(nodes)}."
        )
    numbers = spark.createDataFrame(
        list(zip(nodes, range(len(nodes)), strict=True)), "node long, number int"
    )
    lists = (
        members.join(F.broadcast(numbers), "node")
        .groupBy("group")
        .agg(F.collect_list("number").alias("numbers"))
        .join(group_traffic(members), "group")
        .orderBy("group")
        .toArrow()
    )
    members.unpersist()
    flat = lists.column("numbers").combine_chunks()
    offsets = flat.offsets.to_numpy()
    values = flat.values.to_numpy()
    bits = [as_bits(values[first:last], len(nodes)) for first, last in pairwise(offsets)]
    # A group of which nothing is known but that it exists weighs next to nothing.
    traffic = np.maximum(lists.column("bytes").to_numpy().astype(float), 1.0)
    return Interest(len(nodes), lists.column("group").to_pylist(), bits, traffic.tolist())
