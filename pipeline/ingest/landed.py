"""Files of the landing folder: which there are, which are new, and the verdict on each."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F

from pipeline.errors import PipelineProblem
from pipeline.ingest import verify
from pipeline.ingest.store import Store
from pipeline.storage import Storage

# Whole files cross from Java to Python, so only a few at a time.
_FILES_PER_BATCH = 4
_HERE = "file:"


class LandedFile(NamedTuple):
    """A file as it was found."""

    path: str
    length: int
    modified_ms: int


class Checked(NamedTuple):
    """A file with the verdict on it."""

    file: LandedFile
    found: verify.Verdict


def check_landing(spark: SparkSession, landing: str) -> None:
    if not Storage(spark, landing).exists(""):
        raise PipelineProblem(f"{landing} does not exist: name the folder of landed files.")


def all_files(spark: SparkSession, landing: str) -> list[LandedFile]:
    """Every file there; those without a byte, too, which Spark passes over when it reads."""
    frame = _reader_of_files(spark).load(landing)
    listed = files_in(frame)
    seen = {file.path for file in listed}
    # The two lists spell paths in different ways: quoted or not, and with one slash or three.
    named = {unquote(path).replace("file:///", "file:/", 1) for path in frame.inputFiles()}
    return listed + [LandedFile(path, 0, 0) for path in sorted(named - seen)]


def empty_files(spark: SparkSession, landing: str) -> list[LandedFile]:
    """Files without a byte, which no stream sees."""
    return [file for file in all_files(spark, landing) if file.length == 0]


def files_in(frame: DataFrame) -> list[LandedFile]:
    """The files of a frame that holds files; their content is not read."""
    modified = F.unix_millis("modificationTime")
    rows = frame.select("path", "length", modified).collect()
    return sorted(LandedFile(*row) for row in rows)


def unknown(listed: list[LandedFile], store: Store) -> list[LandedFile]:
    """Those that no batch has seen as they are now."""
    if not store.batches():
        return sorted(listed)
    known = store.files().select("path", "length", "modified_ms").collect()
    return sorted(set(listed) - {LandedFile(*row) for row in known})


def check(
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


def good_ones(checked: list[Checked]) -> list[Checked]:
    return [each for each in checked if each.found.verdict == verify.GOOD]


def _reader_of_files(spark: SparkSession) -> DataFrameReader:
    """Reads whole files; what is not selected (their content) is not read."""
    reader = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet")
    return reader.option("recursiveFileLookup", "true")


def _verdicts(spark: SparkSession, paths: list[str], *, whole: bool) -> dict[str, verify.Verdict]:
    """By threads of this process where Spark and the files are here, else where Spark is."""
    if not paths:
        return {}
    if _is_here(spark, paths):
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(partial(_verdict_here, whole=whole), paths)
            return dict(zip(paths, found, strict=True))
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(setting)
    spark.conf.set(setting, str(_FILES_PER_BATCH))
    try:
        contents = _reader_of_files(spark).load(paths).select("path", "content")
        judge = partial(verify.verdicts, whole=whole)
        rows = contents.mapInArrow(judge, verify.VERDICT_DDL).collect()
    finally:
        spark.conf.set(setting, before or "10000")
    return {path: verify.Verdict(*rest) for path, *rest in rows}


def _is_here(spark: SparkSession, paths: list[str]) -> bool:
    local = str(spark.sparkContext.master).startswith("local")
    return local and all(path.startswith(_HERE) for path in paths)


def _verdict_here(path: str, *, whole: bool) -> verify.Verdict:
    # As Spark lists them, paths are not quoted.
    file = Path(path.removeprefix(_HERE))
    try:
        return verify.verify_bytes(file.name, file.read_bytes(), whole=whole)
    except OSError:
        # It was there a moment ago: whoever took it away, it cannot be taken in.
        return verify.Verdict(verify.UNREADABLE)
