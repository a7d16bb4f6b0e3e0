"""Ingest as a stream: Spark finds new files and remembers them, each micro-batch is one batch.

The batch is named after the stream and the number of the micro-batch, so one that is repeated after
a crash replaces what its first try has left: nothing is lost and nothing is there twice. A stream
that has lost its checkpoint counts from 0 again; what it has taken in before stays.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from pipeline.errors import PipelineProblem
from pipeline.ingest.job import (
    JOB_VERSION,
    Ingested,
    IngestOptions,
    take_in,
)
from pipeline.ingest.landed import check_landing, empty_files, files_in, unknown
from pipeline.ingest.store import Store
from pipeline.session import first_line

FILES_PER_BATCH = 1000
_FILE_COLUMNS = "path string, modificationTime timestamp, length bigint, content binary"


def stream(
    spark: SparkSession,
    store: Store,
    options: IngestOptions,
    *,
    every_s: float | None = None,
    files_per_batch: int = FILES_PER_BATCH,
    clock_ns: Callable[[], int] | None = None,
    tell: Callable[[Ingested], None] = lambda _: None,
) -> None:
    """Takes in what is new; with `every_s` goes on looking, until interrupted."""
    check_landing(spark, options.landing)
    with store.writing():
        name = hashlib.blake2b(options.landing.encode(), digest_size=4).hexdigest()
        checkpoint = store.storage.at(f"checkpoints/{name}")
        # Time goes on while a stream runs; a run that ends at once has the time that it was given.
        now_ns = clock_ns or (time.time_ns if every_s is not None else lambda: options.now_ns)

        def take(files: DataFrame, number: int) -> None:
            new = unknown(files_in(files) + empty_files(spark, options.landing), store)
            if not new:
                return
            this = IngestOptions(options.landing, now_ns(), options.horizon_days)
            tell(take_in(spark, store, new, f"s{JOB_VERSION}-{name}-{number:08d}", this))

        source = (
            spark.readStream.format("binaryFile")
            .schema(_FILE_COLUMNS)
            .option("pathGlobFilter", "*.parquet")
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", str(files_per_batch))
            .load(options.landing)
        )
        writer = source.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint)
        if every_s is None:
            writer = writer.trigger(availableNow=True)
        else:
            writer = writer.trigger(processingTime=f"{every_s} seconds")
        query = writer.start()
        try:
            query.awaitTermination()
        except PySparkException as problem:
            raise PipelineProblem(f"The stream has ended: {first_line(problem)}") from problem
        finally:
            with suppress(Py4JError):  # Interrupted, it may be in the middle of an answer.
                query.stop()
