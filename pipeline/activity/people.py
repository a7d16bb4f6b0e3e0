"""Timelines of people and objects, from what applications log when their users have agreed.

Persons have the names that their applications gave them, which are pseudonyms already; here they
are hashed once more under a secret of the store, so that tables cannot be joined with other logs.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

ACTIONS = ("opened", "edited", "closed")
PAUSE_NS = 15 * 60 * 1_000_000_000
DAY_NS = 86_400_000_000_000


def person_events(application: DataFrame, now_ns: int, retention_days: float) -> DataFrame:
    """What people did within the time that is kept; rows that name nobody are not about people."""
    details = F.from_json("details", "group string, person string")
    return (
        application.where(F.col("name").isin(*ACTIONS))
        .where(F.col("time_ns") >= int(now_ns - retention_days * DAY_NS))
        .select("time_ns", F.col("name").alias("action"), details.alias("told"))
        .select("time_ns", "action", F.col("told.group").alias("group"), "told.person")
        .where(F.col("group").rlike("^[0-9a-f]{32}$") & F.col("person").isNotNull())
    )


def pseudonymous(events: DataFrame, secret: str) -> DataFrame:
    """The same with other names for people: the same for one secret, and no way back."""
    hidden = F.substring(F.sha2(F.concat(F.lit(secret), F.lit("|"), F.col("person")), 256), 1, 12)
    return events.withColumn("person", hidden)


def timelines(events: DataFrame) -> DataFrame:
    """When each person worked with each object: from one action to the next, without pauses."""
    order = Window.partitionBy("person", "group").orderBy("time_ns", "action")
    before = F.lag("time_ns").over(order)
    ended = F.lag("action").over(order) == "closed"
    begins = before.isNull() | (F.col("time_ns") - before > PAUSE_NS) | ended
    numbered = events.withColumn("begins", begins.cast("int")).withColumn(
        "session", F.sum("begins").over(order)
    )
    return (
        numbered.groupBy("person", "group", "session")
        .agg(
            F.min("time_ns").alias("start_ns"),
            F.max("time_ns").alias("end_ns"),
            F.count_if(F.col("action") == "edited").alias("edits"),
        )
        .drop("session")
    )


def object_days(events: DataFrame) -> DataFrame:
    """How each object was used on each day."""
    day = F.expr("time_ns div 86400000000000").alias("day")
    return events.groupBy("group", day).agg(
        F.count_distinct("person").alias("people"),
        F.count_if(F.col("action") == "opened").alias("opened"),
        F.count_if(F.col("action") == "edited").alias("edited"),
    )
