"""Which rows are taken in and which are set aside, and why: frames in, frames out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.columns import DAMAGED, NAMES, REQUIRED
from transport.event_log_schema import VERSION

DAMAGE = "damaged"
HEADLESS = "no head"
WRONG_VERSION = "version"
UNKNOWN_KIND = "unknown kind"
INCOMPLETE = "incomplete"
FUTURE = "from the future"
LATE = "late"
DUPLICATE = "duplicate"

# In the order in which they are looked for.
PROBLEMS = {
    DAMAGE: "a place in the segment that could not be read",
    HEADLESS: "the head of the segment is missing, so its version is unknown",
    WRONG_VERSION: f"the segment is of another version than {VERSION}",
    UNKNOWN_KIND: "a kind of record that is not known",
    INCOMPLETE: "a record without a column that its kind has",
    FUTURE: "a time that has not come: the writer's clock is wrong",
    LATE: "a time before the horizon",
    DUPLICATE: "a place in the segment that another row has already",
}

FUTURE_NS = 3_600_000_000_000


def classify(events: DataFrame, now_ns: int, horizon_ns: int) -> DataFrame:
    """Adds `problem`: null for rows that are in order."""
    complete = reduce(
        lambda some, more: some | more,
        [
            (F.col("kind") == kind)
            & reduce(lambda a, b: a & b, [F.col(name).isNotNull() for name in names])
            for kind, names in REQUIRED.items()
        ],
    )
    problem = (
        F.when(F.col("kind") == DAMAGED, DAMAGE)
        .when(F.col("version").isNull(), HEADLESS)
        .when(F.col("version") != VERSION, WRONG_VERSION)
        .when(~F.coalesce(F.col("kind").isin(*REQUIRED), F.lit(False)), UNKNOWN_KIND)
        .when(F.col("time_ns").isNull() | ~complete, INCOMPLETE)
        .when(F.col("time_ns") > now_ns + FUTURE_NS, FUTURE)
        .when(F.col("time_ns") < now_ns - horizon_ns, LATE)
    )
    return events.select(*NAMES, problem.alias("problem"))


def mark_duplicates(events: DataFrame, segments: list[str]) -> DataFrame:
    """Of rows with the same place in one of these segments all but one are duplicates."""
    if not segments:
        return events
    suspect = F.col("segment").isin(*segments)
    place = Window.partitionBy("segment", "ordinal").orderBy("time_ns", "kind")
    marked = (
        events.where(suspect)
        .withColumn("place", F.row_number().over(place))
        .withColumn("problem", F.when(F.col("place") > 1, DUPLICATE).otherwise(F.col("problem")))
        .drop("place")
    )
    return events.where(~suspect).unionByName(marked)


def stored(events: DataFrame) -> DataFrame:
    """The rows that are in order, with the day of each."""
    return events.where(F.col("problem").isNull()).select(*NAMES, day().alias("date"))


def counts() -> list[Column]:
    """How many rows of each kind are in order, and how many have each problem."""
    good = F.col("problem").isNull()
    kinds = [F.count_if(good & (F.col("kind") == kind)).alias(kind) for kind in REQUIRED]
    return kinds + [F.count_if(F.col("problem") == each).alias(each) for each in PROBLEMS]


def counted(seen: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """The same as two tables, of rows by kind and of problems, without what there was none of."""
    rows = {kind: seen[kind] for kind in sorted(REQUIRED) if seen[kind]}
    return rows, {problem: seen[problem] for problem in sorted(PROBLEMS) if seen[problem]}


def set_aside(events: DataFrame) -> DataFrame:
    """The others, each as a whole in text, since what is wrong may be any of its columns."""
    row = F.to_json(F.struct(*NAMES))
    kept = events.where(F.col("problem").isNotNull())
    return kept.select("problem", "segment", "ordinal", "kind", "time_ns", row.alias("row"))


def day(time_ns: str = "time_ns") -> Column:
    """The day of a time, in UTC."""
    return F.to_date(F.timestamp_seconds(F.expr(f"{time_ns} div 1000000000")))
