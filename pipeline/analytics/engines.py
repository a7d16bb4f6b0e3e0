"""What engines counted: per node and per region, in steps between two samples."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.analytics.deliveries import minute, percentiles
from pipeline.sums import total

# Counters that only grow: what is of interest is by how much.
GROWING = (
    *("datagrams_received", "bytes_received", "datagrams_sent", "bytes_sent"),
    *("data_received", "data_duplicate", "data_receive_full", "dropped_no_buffer"),
    *("messages_sent", "messages_delivered", "messages_not_joined"),
    *("packets_sent", "packets_lost", "pulls_sent", "repairs_sent", "repairs_multicast"),
    *("repairs_received", "tokens_launched", "tokens_passed", "rate_decreases", "window_full"),
    *("views_installed", "regions_installed", "regions_dissolved"),
)
LEVELS = ("pool_bytes_now",)
# A node that was silent for longer was not running, or not logging.
STEP_S_MAX = 120.0
BURST_LOSS = 0.05
BURST_GAP_NS = 15_000_000_000


def counter_steps(counters: DataFrame, heads: DataFrame) -> DataFrame:
    """Growth of every counter between two samples of a node; a node's first sample has none.

    The names of the values are in the head of the segment: programs of two versions may differ.
    """
    names = heads.select("segment", F.col("counter_names").alias("names")).distinct()
    named = counters.select("segment", "node", "time_ns", "counters").join(
        F.broadcast(names), "segment"
    )

    def value(name: str) -> Column:
        # Null where the writer's version does not count it, whatever else the row holds.
        place = F.array_position("names", name) - F.lit(1)
        return F.get("counters", place.cast("int")).alias(name)

    order = Window.partitionBy("node").orderBy("time_ns")
    read = named.select("node", "time_ns", *map(value, (*GROWING, *LEVELS)))

    def grown(name: str) -> Column:
        growth = F.col(name) - F.lag(name).over(order)
        return F.greatest(F.coalesce(growth, F.lit(0)), F.lit(0)).alias(name)

    step_s = (F.col("time_ns") - F.lag("time_ns").over(order)) / F.lit(1e9)
    steps = read.select("node", "time_ns", step_s.alias("step_s"), *map(grown, GROWING), *LEVELS)
    return steps.where((F.col("step_s") > 0) & (F.col("step_s") <= STEP_S_MAX))


def node_totals(steps: DataFrame) -> DataFrame:
    """What each node did over the whole time."""
    lost, received = total("packets_lost"), total("data_received")
    return steps.groupBy("node").agg(
        F.sum("step_s").alias("seconds"),
        *(total(name).alias(name) for name in GROWING),
        F.max("pool_bytes_now").alias("pool_bytes_max"),
        F.when(lost + received > 0, lost / (lost + received)).otherwise(0.0).alias("loss"),
    )


def region_times(regions: DataFrame) -> DataFrame:
    """Token round-trips, acknowledgements, pending packets and rates of each region."""
    known = regions.select(
        "region",
        "node",
        "member_count",
        "alive",
        "unacknowledged",
        "rate_bytes_per_s",
        "unicast",
        measured("acknowledgement_ns"),
        measured("token_round_ns"),
    )
    return known.groupBy("region").agg(
        F.count("*").alias("samples"),
        F.count_distinct("node").alias("nodes"),
        F.max("member_count").alias("members_max"),
        *percentiles("acknowledgement_ns", "acknowledgement_ns"),
        *percentiles("token_round_ns", "token_round_ns"),
        F.avg("unacknowledged").alias("pending_mean"),
        F.max("unacknowledged").alias("pending_max"),
        F.avg("rate_bytes_per_s").alias("rate_bytes_per_s"),
        F.avg(F.col("unicast").cast("double")).alias("unicast"),
    )


def region_totals(region_steps: DataFrame) -> DataFrame:
    """What the nodes of each region did together, in steps of ten seconds."""
    sums = ("bytes_received", "messages_delivered", "packets_lost", "repairs_sent")
    seconds = F.count_distinct("bucket") * F.lit(10.0)
    return region_steps.groupBy("region").agg(
        *(total(name).alias(name) for name in sums),
        (total("bytes_received") / seconds).alias("bytes_per_s"),
        F.max("pool_bytes_max").alias("pool_bytes_max"),
    )


def measured(name: str) -> Column:
    """A time that an engine measured itself: 0 says that it has not been, yet."""
    return F.nullif(name, F.lit(0)).alias(name)


def loss_bursts(steps: DataFrame) -> DataFrame:
    """Runs of steps in which a node missed more than a twentieth of its packets."""
    # Null for a node that neither received nor missed anything, as most do most of the time.
    share = F.try_divide("packets_lost", F.col("packets_lost") + F.col("data_received"))
    bad = steps.where(share > BURST_LOSS).select(
        "node", "time_ns", "step_s", "packets_lost", share.alias("loss")
    )
    return (
        with_runs(bad, ["node"], "time_ns", BURST_GAP_NS)
        .groupBy("node", "run")
        .agg(
            F.min("time_ns").alias("start_ns"),
            F.max("time_ns").alias("end_ns"),
            F.sum("step_s").alias("seconds"),
            total("packets_lost").alias("packets_lost"),
            F.max("loss").alias("loss_max"),
        )
        .drop("run")
    )


def with_runs(rows: DataFrame, keys: list[str], order_by: str, gap_max: int) -> DataFrame:
    """Adds `run`: rows of one key whose places are at most `gap_max` apart have the same."""
    order = Window.partitionBy(*keys).orderBy(order_by)
    gap = F.col(order_by) - F.lag(order_by).over(order)
    first = rows.withColumn("first", F.when(gap <= gap_max, 0).otherwise(1))
    return first.withColumn("run", F.sum("first").over(order)).drop("first")


def region_steps(steps: DataFrame, regions: DataFrame) -> DataFrame:
    """The steps of all nodes of a region together, in buckets of ten seconds.

    A node's counters are not parted by region: they are put down to the largest region that it
    was in during that minute.
    """
    size = Window.partitionBy("node", "minute").orderBy(F.desc("member_count"), "region")
    home = (
        regions.groupBy("node", minute().alias("minute"), "region")
        .agg(F.max("member_count").alias("member_count"))
        .withColumn("place", F.row_number().over(size))
        .where(F.col("place") == 1)
        .select("node", "minute", "region")
    )
    return (
        steps.withColumn("minute", minute())
        .join(home, ["node", "minute"])
        .groupBy("region", F.expr("time_ns div 10000000000").alias("bucket"))
        .agg(
            F.count_distinct("node").alias("nodes"),
            *(total(name).alias(name) for name in GROWING),
            F.max("repairs_sent").alias("repairs_sent_max"),
            F.max("pool_bytes_now").alias("pool_bytes_max"),
        )
    )
