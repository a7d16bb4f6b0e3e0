"""The ingest job: new files are verified, their rows sorted into good and bad, both written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameReader, SparkSession, Window
from pyspark.sql import functions as F

from pipeline.columns import DDL, REQUIRED
from pipeline.errors import PipelineProblem
from pipeline.ingest import transform, verify
from pipeline.ingest.store import FILES_DDL, Store
from pipeline.storage import Storage

# Part of every batch's name: what an older version has taken in is not what this one would.
JOB_VERSION = 1
HORIZON_DAYS = 31.0
DAY_NS = 86_400_000_000_000
SAMPLES = 3
# Whole files cross from Java to Python, so only a few at a time.
_FILES_PER_BATCH = 4


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


class LandedFile(NamedTuple):
    """A file as it was found."""

    path: str
    length: int
    modified_ms: int


class Checked(NamedTuple):
    """A file with the verdict on it."""

    file: LandedFile
    found: verify.Verdict


def ingest(spark: SparkSession, store: Store, options: IngestOptions) -> Ingested:
    """Takes in what is new in the landing folder; with `again` everything, in place of before."""
    check_landing(spark, options.landing)
    with store.writing():
        listed = _listed(reader_of_files(spark).load(options.landing))
        listed += empty_files(spark, options.landing)
        new = sorted(listed) if options.again else unknown(listed, store)
        if not new:
            return NOTHING
        names = "\n".join(file.path for file in new)
        digest = hashlib.blake2b(names.encode(), digest_size=8).hexdigest()
        replaced = store.batches() if options.again else []
        return take_in(spark, store, new, f"b{JOB_VERSION}-{digest}", options, replaced)


def check_landing(spark: SparkSession, landing: str) -> None:
    if not Storage(spark, landing).exists(""):
        raise PipelineProblem(f"{landing} does not exist: name the folder of landed files.")


def reader_of_files(spark: SparkSession) -> DataFrameReader:
    """Reads whole files; what is not selected (their content) is not read."""
    reader = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet")
    return reader.option("recursiveFileLookup", "true")


def _listed(files: DataFrame) -> list[LandedFile]:
    modified = F.unix_millis("modificationTime")
    rows = files.select("path", "length", modified).collect()
    return sorted(LandedFile(*row) for row in rows)


def empty_files(spark: SparkSession, landing: str) -> list[LandedFile]:
    """Files without a byte, which Spark passes over in silence when it reads."""
    frame = reader_of_files(spark).load(landing)
    seen = {row.path for row in frame.select("path").collect()}
    # One slash or three: the two lists spell paths of this computer in different ways.
    named = {path.replace("file:///", "file:/", 1) for path in frame.inputFiles()}
    return [LandedFile(path, 0, 0) for path in sorted(named - seen)]


def files_of(frame: DataFrame, landing: str, store: Store) -> list[LandedFile]:
    """The files that a stream has found and those that it does not see, but for known ones."""
    return unknown(_listed(frame) + empty_files(frame.sparkSession, landing), store)


def unknown(listed: list[LandedFile], store: Store) -> list[LandedFile]:
    """Those that no batch has seen as they are now."""
    if not store.batches():
        return sorted(listed)
    known = store.files().select("path", "length", "modified_ms").collect()
    return sorted(set(listed) - {LandedFile(*row) for row in known})


def take_in(
    spark: SparkSession,
    store: Store,
    files: list[LandedFile],
    batch: str,
    options: IngestOptions,
    replaces: Sequence[str] = (),
) -> Ingested:
    """Takes these files in as one batch, which replaces one of the same name."""
    taken = _segments_taken(store, {batch, *replaces})
    checked = _check(spark, files, taken, whole=False)
    try:
        manifest = _write(spark, store, checked, batch, options)
    except PySparkException as problem:
        # A file with the right digest that Spark cannot read: find it, and go on without it.
        stricter = _check(spark, files, taken, whole=True)
        if _good(stricter) == _good(checked):
            first = str(problem).strip().splitlines()[0]
            raise PipelineProblem(f"The files cannot be taken in: {first}") from problem
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


def _check(
    spark: SparkSession, files: list[LandedFile], taken: set[str], *, whole: bool
) -> list[Checked]:
    """The verdict on each file. A segment counts once: here, and over all batches that stay."""
    sized = [file.path for file in files if 0 < file.length <= verify.FILE_BYTES_MAX]
    found = _verdicts(spark, sized, whole=whole)
    found |= {file.path: verify.Verdict(verify.EMPTY) for file in files if file.length == 0}
    seen = set(taken)
    checked = []
    for file in files:
        verdict = found.get(file.path, verify.Verdict(verify.SIZE))
        if verdict.verdict == verify.GOOD and verdict.segment is not None:
            if verdict.segment in seen:
                verdict = verdict._replace(verdict=verify.DUPLICATE)
            seen.add(verdict.segment or "")
        checked.append(Checked(file, verdict))
    return checked


def _verdicts(spark: SparkSession, paths: list[str], *, whole: bool) -> dict[str, verify.Verdict]:
    if not paths:
        return {}
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(setting)
    spark.conf.set(setting, str(_FILES_PER_BATCH))
    try:
        contents = reader_of_files(spark).load(paths).select("path", "content")
        check = partial(verify.verdicts, whole=whole)
        rows = contents.mapInArrow(check, verify.VERDICT_DDL).collect()
    finally:
        spark.conf.set(setting, before or "10000")
    return {path: verify.Verdict(*rest) for path, *rest in rows}


def _good(checked: list[Checked]) -> list[Checked]:
    return [each for each in checked if each.found.verdict == verify.GOOD]


def _write(
    spark: SparkSession, store: Store, checked: list[Checked], batch: str, options: IngestOptions
) -> dict[str, Any]:
    good = _good(checked)
    rows: dict[str, int] = {}
    problems: dict[str, int] = {}
    samples: dict[str, list[str]] = {}
    store.storage.delete(f"events/batch={batch}")
    store.storage.delete(f"quarantine/batch={batch}")
    if good:
        events = spark.read.schema(DDL).parquet(*[each.file.path for each in good])
        repeated = [str(each.found.segment) for each in good if each.found.repeated]
        rows, problems = _write_rows(store, events, repeated, batch, options)
    if problems:
        samples = _samples(store.storage.at(f"quarantine/batch={batch}"), spark)
    verdicts = [each.found.verdict for each in checked]
    return {
        "batch": batch,
        "job_version": JOB_VERSION,
        "made": datetime.fromtimestamp(options.now_ns // 10**9, UTC).isoformat(),
        "landing": options.landing,
        "horizon_days": options.horizon_days,
        "files": {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))},
        "refused_files": _refused(checked),
        "rows": rows,
        "problems": problems,
        "samples": samples,
    }


def _write_rows(
    store: Store, events: DataFrame, repeated: list[str], batch: str, options: IngestOptions
) -> tuple[dict[str, int], dict[str, int]]:
    """Writes good rows by kind and day and the others aside; gives the numbers of both.

    Each kind is read and written by itself, with its own columns only: reading a few columns of a
    Parquet file several times is far cheaper than carrying all of them once.
    """
    horizon_ns = int(options.horizon_days * DAY_NS)

    def sorted_out(some: DataFrame, kinds: Sequence[str]) -> DataFrame:
        classified = transform.classify(some, options.now_ns, horizon_ns, kinds)
        return transform.mark_duplicates(classified, repeated)

    everything = sorted_out(events, list(REQUIRED))
    rows: dict[str, int] = {}
    problems: dict[str, int] = {}
    for kind, problem, count in everything.groupBy("kind", "problem").count().collect():
        if problem is None:
            rows[kind] = count
        else:
            problems[problem] = problems.get(problem, 0) + count
    for kind in rows:
        some = events.where(F.col("kind") == kind)
        if problems:
            some = sorted_out(some, [kind]).where(F.col("problem").isNull())
        place = store.storage.at(f"events/batch={batch}/kind={kind}")
        transform.stored(some, kind).write.partitionBy("date").parquet(place)
    if problems:
        aside = transform.set_aside(everything)
        aside.write.parquet(store.storage.at(f"quarantine/batch={batch}"))
    return dict(sorted(rows.items())), dict(sorted(problems.items()))


def _refused(checked: list[Checked]) -> list[dict[str, str]]:
    bad = [each for each in checked if each.found.verdict != verify.GOOD][: 10 * SAMPLES]
    return [{"path": each.file.path, "why": verify.WORDS[each.found.verdict]} for each in bad]


def _samples(place: str, spark: SparkSession) -> dict[str, list[str]]:
    aside = spark.read.parquet(place)
    order = Window.partitionBy("problem").orderBy("segment", "ordinal")
    first = aside.withColumn("place", F.row_number().over(order)).where(F.col("place") <= SAMPLES)
    samples: dict[str, list[str]] = {}
    for row in first.select("problem", F.substring("row", 1, 600).alias("row")).collect():
        samples.setdefault(row.problem, []).append(row.row)
    return samples
