"""Which rows are taken in and which are set aside, and why: frames in, frames out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.columns import AMOUNTS, DAMAGED, NAMES, NUMBER_MAX, REQUIRED
from transport.event_log_schema import VERSION, Record

DAMAGE = "damaged"
HEADLESS = "no head"
WRONG_VERSION = "version"
UNKNOWN_KIND = "unknown kind"
INCOMPLETE = "incomplete"
OUT_OF_RANGE = "out of range"
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
    OUT_OF_RANGE: "an amount that nothing real comes to, or a group that is none",
    DUPLICATE: "a place in the segment that another row has already",
}

FUTURE_NS = 3_600_000_000_000

# Most of a log is of these kinds, so they are compared with first.
_FREQUENT = ("DELIVERY", "GROUP", "COUNTERS", "REGION")
_FREQUENT_FIRST = (*_FREQUENT, *(kind for kind in REQUIRED if kind not in _FREQUENT))
_GROUP_BYTES = 16
# Kinds whose groups go into plans and advice for programs.
_PLANNED = ("GROUP", "VIEW", "LEFT")
_OF_HEAD = ("version", "program", "scope")


def classify(events: DataFrame, now_ns: int, horizon_ns: int) -> DataFrame:
    """Adds `problem`: null for rows that are in order."""
    kind = F.col("kind")
    complete = _any((kind == each) & _is_complete(each) for each in _FREQUENT_FIRST)
    sound = _any((kind == each) & _is_complete(each) & _in_range(each) for each in _FREQUENT_FIRST)
    time_ns, earliest_ns, latest_ns = F.col("time_ns"), now_ns - horizon_ns, now_ns + FUTURE_NS
    in_time = (time_ns >= earliest_ns) & (time_ns <= latest_ns)
    # Nearly all rows are in order: that is found out first, and with few comparisons.
    in_order = F.coalesce((F.col("version") == VERSION) & in_time & sound, F.lit(False))
    problem = (
        F.when(in_order, F.lit(None).cast("string"))
        .when(kind == DAMAGED, DAMAGE)
        .when(F.col("version").isNull(), HEADLESS)
        .when(F.col("version") != VERSION, WRONG_VERSION)
        .when(~F.coalesce(kind.isin(*REQUIRED), F.lit(False)), UNKNOWN_KIND)
        .when(time_ns.isNull() | ~complete, INCOMPLETE)
        .when(time_ns > latest_ns, FUTURE)
        .when(time_ns < earliest_ns, LATE)
        .otherwise(OUT_OF_RANGE)
    )
    return events.select(*NAMES, problem.alias("problem"))


def _is_complete(kind: str) -> Column:
    return reduce(lambda a, b: a & b, [F.col(name).isNotNull() for name in REQUIRED[kind]])


def _in_range(kind: str) -> Column:
    """Whether a row of the kind can be computed with. Files are known by their digests, not by
    their writers: one row that made a sum overflow would end every job that reads it.

    Each kind has its own tests, so that a row is asked only about columns that it has.
    """
    tests = [_between(F.col(name), F.col(name)) for name in AMOUNTS.get(kind, ())]
    if kind == "COUNTERS":
        tests.append(_between(F.array_min("counters"), F.array_max("counters")))
    if kind in _PLANNED:
        group = F.col("group")
        tests.append((F.length(F.unhex(group)) == _GROUP_BYTES) & (group == F.lower(group)))
    return reduce(lambda some, more: some & more, tests, F.lit(True))


def _between(least: Column, greatest: Column) -> Column:
    return F.coalesce((least >= 0) & (greatest <= NUMBER_MAX), F.lit(True))


def _any(tests: Iterable[Column]) -> Column:
    return reduce(lambda some, more: some | more, tests)


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
    """The rows that are in order, with the day of each. What the head of a segment says is kept in
    its own row only."""
    is_head = F.col("kind") == Record.SEGMENT.name
    columns = [
        F.when(is_head, F.col(name)).alias(name) if name in _OF_HEAD else F.col(name)
        for name in NAMES
    ]
    return events.where(F.col("problem").isNull()).select(*columns, day().alias("date"))


def set_aside(events: DataFrame) -> DataFrame:
    """The others, each as a whole in text, since what is wrong may be any of its columns."""
    row = F.to_json(F.struct(*NAMES))
    kept = events.where(F.col("problem").isNotNull())
    return kept.select("problem", "segment", "ordinal", "kind", "time_ns", row.alias("row"))


def day(time_ns: str = "time_ns") -> Column:
    """The day of a time, in UTC."""
    return F.date_from_unix_date(F.expr(f"int({time_ns} div 86400000000000)"))
