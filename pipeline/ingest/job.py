"""The ingest job: new files are verified, their rows sorted into good and bad, both written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

from pipeline.columns import DDL
from pipeline.errors import PipelineProblem
from pipeline.ingest import transform, verify
from pipeline.ingest.landed import (
    Checked,
    LandedFile,
    all_files,
    check,
    check_landing,
    good_ones,
    unknown,
)
from pipeline.ingest.store import FILES_DDL, Store
from pipeline.session import first_line
from pipeline.storage import Storage

# Part of every batch's name: what an older version has taken in is not what this one would.
JOB_VERSION = 1
HORIZON_DAYS = 31.0
DAY_NS = 86_400_000_000_000
SAMPLES = 3
SAMPLE_CHARACTERS_MAX = 600


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """`now_ns` is handed in; rows older than the horizon are late."""

    landing: str
    now_ns: int
    horizon_days: float = HORIZON_DAYS
    again: bool = False


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one run has done, as its manifest says; no batch when there was nothing new."""

    batch: str | None
    manifest: dict[str, Any]

    @property
    def rows(self) -> int:
        return sum(self.manifest["rows"].values())

    @property
    def set_aside(self) -> int:
        return sum(self.manifest["problems"].values())

    @property
    def refused(self) -> int:
        files = self.manifest["files"]
        return sum(count for verdict, count in files.items() if verdict != verify.GOOD)


NOTHING = Ingested(None, {"rows": {}, "problems": {}, "files": {}})


def ingest(spark: SparkSession, store: Store, options: IngestOptions) -> Ingested:
    """Takes in what is new in the landing folder; with `again` everything, in place of before."""
    check_landing(spark, options.landing)
    with store.writing():
        listed = all_files(spark, options.landing)
        new = sorted(listed) if options.again else unknown(listed, store)
        if not new:
            return NOTHING
        names = "\n".join(file.path for file in new)
        digest = hashlib.blake2b(names.encode(), digest_size=8).hexdigest()
        replaced = store.batches_of(options.landing) if options.again else []
        return take_in(spark, store, new, f"b{JOB_VERSION}-{digest}", options, replaced)


def take_in(
    spark: SparkSession,
    store: Store,
    files: list[LandedFile],
    stem: str,
    options: IngestOptions,
    replaces: Sequence[str] = (),
) -> Ingested:
    """Takes these files in as one batch. What a run that died has left under its name is replaced;
    what counts stays, but for the batches that are named."""
    batch = store.fresh_name(stem)
    taken = _segments_taken(store, set(replaces))
    checked = check(spark, files, taken, whole=False)
    try:
        manifest = _write(spark, store, checked, batch, options)
    except PySparkException as problem:
        # A file with the right digest that Spark cannot read: find it, and go on without it.
        stricter = check(spark, files, taken, whole=True)
        if good_ones(stricter) == good_ones(checked):
            raise PipelineProblem(
                f"The files cannot be taken in: {first_line(problem)}"
            ) from problem
        checked = stricter
        manifest = _write(spark, store, checked, batch, options)
    rows = [
        (*each.file, each.found.verdict, each.found.segment, each.found.rows) for each in checked
    ]
    place = store.storage.at(f"files/batch={batch}")
    spark.createDataFrame(rows, FILES_DDL).coalesce(1).write.mode("overwrite").parquet(place)
    store.commit(batch, manifest, replaces)
    return Ingested(batch, manifest)


def _segments_taken(store: Store, without: set[str]) -> set[str]:
    """The segments that are in the store, but for those of batches that are replaced."""
    if not set(store.batches()) - without:
        return set()
    good = store.files().where((F.col("verdict") == verify.GOOD) & ~F.col("batch").isin(*without))
    return {row.segment for row in good.select("segment").collect()}


def _write(
    spark: SparkSession, store: Store, checked: list[Checked], batch: str, options: IngestOptions
) -> dict[str, Any]:
    good = good_ones(checked)
    rows: dict[str, int] = {}
    problems: dict[str, int] = {}
    samples: dict[str, list[str]] = {}
    store.storage.delete(f"events/batch={batch}")
    store.storage.delete(f"quarantine/batch={batch}")
    if good:
        rows, problems = _write_rows(store, good, batch, options)
    if problems:
        samples = _samples(store.storage.at(f"quarantine/batch={batch}"), spark)
    verdicts = [each.found.verdict for each in checked]
    return {
        "batch": batch,
        "job_version": JOB_VERSION,
        "made": datetime.fromtimestamp(options.now_ns // 10**9, UTC).isoformat(),
        "landing": Storage(spark, options.landing).place,
        "horizon_days": options.horizon_days,
        "files": {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
        "refused_files": _refused(checked),
        "rows": rows,
        "problems": problems,
        "samples": samples,
    }


def _write_rows(
    store: Store, good: list[Checked], batch: str, options: IngestOptions
) -> tuple[dict[str, int], dict[str, int]]:
    """Writes good rows by kind and day and the others aside; gives the numbers of both.

    One pass reads, sorts out and writes: compiling a query for each kind took longer than carrying
    the columns of all kinds, most of them null, through a single one. How many rows there are the
    written files know, and only where they are fewer than were read is there anything to set aside.
    """
    spark = store.spark
    events = spark.read.schema(DDL).parquet(*[each.file.path for each in good])
    horizon_ns = int(options.horizon_days * DAY_NS)
    classified = transform.classify(events, options.now_ns, horizon_ns)
    repeated = [str(each.found.segment) for each in good if each.found.repeated]
    everything = transform.mark_duplicates(classified, repeated)
    place = f"events/batch={batch}"
    transform.stored(everything).write.partitionBy("kind", "date").parquet(store.storage.at(place))
    rows = _counts(store, place, "kind")
    missing = sum(each.found.rows for each in good) - sum(rows.values())
    problems: dict[str, int] = {}
    if missing:
        aside = f"quarantine/batch={batch}"
        transform.set_aside(everything).write.parquet(store.storage.at(aside))
        problems = _counts(store, aside, "problem")
    if missing != sum(problems.values()):
        raise PipelineProblem("Not every row was written: the files have changed meanwhile.")
    return rows, problems


def _counts(store: Store, place: str, column: str) -> dict[str, int]:
    """How many rows were written, by a column; none where nothing was."""
    written = store.spark.read.schema(f"{column} string").parquet(store.storage.at(place))
    return {row[0]: row[1] for row in sorted(written.groupBy(column).count().collect())}


def _refused(checked: list[Checked]) -> list[dict[str, str]]:
    bad = [each for each in checked if each.found.verdict != verify.GOOD][: 10 * SAMPLES]
    return [{"path": each.file.path, "why": verify.WORDS[each.found.verdict]} for each in bad]


def _samples(place: str, spark: SparkSession) -> dict[str, list[str]]:
    aside = spark.read.parquet(place)
    order = Window.partitionBy("problem").orderBy("segment", "ordinal")
    first = aside.withColumn("place", F.row_number().over(order)).where(F.col("place") <= SAMPLES)
    samples: dict[str, list[str]] = {}
    for row in first.select("problem", "row").collect():
        samples.setdefault(row.problem, []).append(_shown(row.row))
    return samples


def _shown(row: str) -> str:
    """A sample for a manifest, which is kept for good: who did something is left out of it."""
    values = json.loads(row)
    if '"person"' in str(values.get("details")):
        values["details"] = "about a person"
    return json.dumps(values)[:SAMPLE_CHARACTERS_MAX]
