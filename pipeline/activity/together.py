"""Which objects are used together, so that the others can be fetched when one is opened.

Needs no persons: a node is as good, and has another id after each start.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

BASKET_NS = 30 * 60 * 1_000_000_000
# A computer that has more open at once says little about what belongs together.
BASKET_GROUPS_MAX = 100
OTHERS_MAX = 10
TOGETHER_MIN = 2


def baskets(samples: DataFrame, views: DataFrame, application: DataFrame) -> DataFrame:
    """What each node used in each half hour: groups that it joined, or in which something moved.

    What a program has fetched by itself and nobody opened does not count: advice would prove
    itself right.
    """
    told = F.from_json("details", "group string")["group"]
    used = (
        samples.select("node", "time_ns", "group")
        .unionByName(views.select("node", "time_ns", "group"))
        .unionByName(
            application.where(F.col("name").isin("opened", "edited")).select(
                "node", "time_ns", told.alias("group")
            )
        )
        .where(F.col("group").isNotNull())
    )
    own = application.select("node", "name", told.alias("group"))
    opened = own.where(F.col("name") == "used").select("node", "group")
    fetched = own.where(F.col("name") == "prefetched").select("node", "group").distinct()
    used = used.join(fetched.join(opened, ["node", "group"], "anti"), ["node", "group"], "anti")
    basket = F.expr(f"time_ns div {BASKET_NS}").alias("basket")
    distinct = used.select("node", basket, "group").distinct()
    size = F.count("*").over(Window.partitionBy("node", "basket"))
    return distinct.withColumn("size", size).where(F.col("size") <= BASKET_GROUPS_MAX).drop("size")


def co_access(filled: DataFrame) -> DataFrame:
    """For each object those that were most surely in use with it.

    `confidence`: of the times when the object was in use, the part in which the other was.
    `lift`: how many times more often than if the two had nothing to do with each other.
    """
    total = filled.select("node", "basket").distinct().agg(F.count("*").alias("total"))
    alone = filled.groupBy("group").agg(F.count("*").alias("times"))
    other = filled.select("node", "basket", F.col("group").alias("other"))
    pairs = (
        filled.join(other, ["node", "basket"])
        .where(F.col("group") != F.col("other"))
        .groupBy("group", "other")
        .agg(F.count("*").alias("together"))
        .where(F.col("together") >= TOGETHER_MIN)
    )
    of_other = alone.select(F.col("group").alias("other"), F.col("times").alias("other_times"))
    confidence = F.col("together") / F.col("times")
    rank = Window.partitionBy("group").orderBy(F.desc("confidence"), F.desc("lift"), "other")
    return (
        pairs.join(alone, "group")
        .join(of_other, "other")
        .crossJoin(F.broadcast(total))
        .withColumn("confidence", confidence)
        .withColumn("lift", F.col("confidence") * F.col("total") / F.col("other_times"))
        .withColumn("place", F.row_number().over(rank))
        .where(F.col("place") <= OTHERS_MAX)
        .select("group", "other", "place", "together", "confidence", "lift")
    )
