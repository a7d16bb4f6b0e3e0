"""From events to interest: who was in which group, and what went through each."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.errors import PipelineProblem
from pipeline.planning.interest import Interest, as_bits
from pipeline.sums import total

NODES_MAX = 200_000


def memberships(samples: DataFrame, views: DataFrame) -> DataFrame:
    """Who was in which group at any time, with what it received there.

    The largest tally stands for all: whoever joins again begins at 0, and what came before counts
    only where it was more. Exact sums would need every node's samples in order.
    """
    received = samples.select("group", "node", "bytes", "own_bytes")
    joined = views.select("group", "node", F.lit(0).alias("bytes"), F.lit(0).alias("own_bytes"))
    return (
        received.unionByName(joined)
        .groupBy("group", "node")
        .agg(F.max("bytes").alias("bytes"), F.max("own_bytes").alias("own_bytes"))
    )


def group_lists(members: DataFrame, numbers: DataFrame) -> DataFrame:
    """The members of each group, by number, and what went through it.

    Everybody receives everything, so the member that received most has it; but where not all log,
    the sum of what members sent may be more.
    """
    return (
        members.join(F.broadcast(numbers), "node")
        .groupBy("group")
        .agg(
            F.collect_list("number").alias("numbers"),
            F.greatest(F.max("bytes"), total("own_bytes")).alias("bytes"),
        )
        .orderBy("group")
    )


def read_interest(spark: SparkSession, samples: DataFrame, views: DataFrame) -> Interest:
    """The memberships on this computer, as sets of bits; nodes are numbered by their ids."""
    seen = samples.select("node").union(views.select("node")).distinct()
    nodes = sorted(row.node for row in seen.collect())
    if not nodes:
        raise PipelineProblem("The store knows of no groups: nothing can be planned yet.")
    if len(nodes) > NODES_MAX:
        raise PipelineProblem(
            f"Plans are for at most {NODES_MAX} nodes, the store has {len(nodes)}."
        )
    numbered = list(zip(nodes, range(len(nodes)), strict=True))
    numbers = spark.createDataFrame(numbered, "node long, number int")
    lists = group_lists(memberships(samples, views), numbers).toArrow()
    flat = lists.column("numbers").combine_chunks()
    offsets = flat.offsets.to_numpy()
    values = flat.values.to_numpy()
    bits = [as_bits(values[first:last], len(nodes)) for first, last in pairwise(offsets)]
    # A group of which nothing is known but that it exists weighs next to nothing.
    traffic = np.maximum(lists.column("bytes").to_numpy().astype(float), 1.0)
    return Interest(len(nodes), lists.column("group").to_pylist(), bits, traffic.tolist())
