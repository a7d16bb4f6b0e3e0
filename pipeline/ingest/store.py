"""Owns the store of events: its folders, what of them counts, and who may write.

    events/batch=…/kind=…/date=…   the events, one folder for each batch that was taken in
    files/batch=…                  which files each batch was made from, with the verdict on each
    quarantine/batch=…             rows that were set aside
    manifests/….json               what each batch has read, kept and set aside
    current.json                   the batches that count; replaced as a whole

A batch counts from the moment in which `current.json` names it. A run that dies before that has
left folders which nobody reads, and which the same run, begun again, replaces.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pipeline.columns import DDL
from pipeline.errors import PipelineProblem
from pipeline.storage import Storage

FORM = 1
_CURRENT = "current.json"
_LOCK = "lock.json"
FILES_DDL = (
    "path string, length bigint, modified_ms bigint, verdict string, segment string, rows bigint"
)
QUARANTINE_DDL = (
    "problem string, segment string, ordinal bigint, kind string, time_ns bigint, row string"
)


class Store:
    """A store at a path that Spark can reach."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self.spark = spark
        self.storage = Storage(spark, root)

    def batches(self) -> list[str]:
        """The batches that count, oldest first."""
        if not self.storage.exists(_CURRENT):
            return []
        try:
            current = json.loads(self.storage.read_text(_CURRENT))
            form, batches = current["form"], [str(batch) for batch in current["batches"]]
        except (ValueError, KeyError, TypeError):
            raise PipelineProblem(
                f"{self.storage.at(_CURRENT)} is damaged: restore it, or ingest into a new store."
            ) from None
        if form != FORM:
            raise PipelineProblem(
                f"{self.storage.root} is a store of form {form}, this program knows {FORM}."
            )
        return batches

    def fresh_name(self, stem: str) -> str:
        """A name for a batch that no batch has which counts: while the new one is written, what
        is there stays as it is."""
        taken = set(self.batches())
        names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
        return next(name for name in names if name not in taken)

    def batches_of(self, landing: str) -> list[str]:
        """The batches that were taken in from this folder."""
        # Manifests have the whole path, those of old the one that was given.
        spelled = (landing, Storage(self.spark, landing).place)
        found = self.manifests()
        return [each["batch"] for each in found if each["landing"] in spelled]

    def commit(self, batch: str, manifest: dict[str, Any], replaces: Sequence[str] = ()) -> None:
        """From now on the batch counts, and those that it replaces do not."""
        before = self.batches()
        self.storage.make_folder("manifests")
        self.storage.write_text(f"manifests/{batch}.json", json.dumps(manifest, indent=2))
        gone = {batch, *replaces}
        kept = [each for each in before if each not in gone]
        text = json.dumps({"form": FORM, "batches": [*kept, batch]}, indent=2)
        self.storage.write_text(_CURRENT, text)
        for each in set(replaces) - {batch}:
            for folder in ("events", "files", "quarantine"):
                self.storage.delete(f"{folder}/batch={each}")

    def manifests(self) -> list[dict[str, Any]]:
        """The manifests of the batches that count."""
        found = []
        for batch in self.batches():
            try:
                found.append(json.loads(self.storage.read_text(f"manifests/{batch}.json")))
            except ValueError:
                place = self.storage.at(f"manifests/{batch}.json")
                raise PipelineProblem(f"{place} is damaged: ingest again.") from None
        return found

    def events(self, *kinds: str) -> DataFrame:
        """The events of these kinds that count; of all kinds where none is named."""
        rows = self._read("events", f"{DDL}, date date", *self.batches())
        return rows.where(F.col("kind").isin(*kinds)) if kinds else rows

    def files(self) -> DataFrame:
        """What is known of files, good and bad."""
        return self._read("files", FILES_DDL, *self.batches())

    def quarantine(self) -> DataFrame:
        return self._read("quarantine", QUARANTINE_DDL, *self.batches())

    def check_not_empty(self) -> None:
        if not self.batches():
            raise PipelineProblem(
                f"{self.storage.root} holds no events: run live-objects pipeline ingest first."
            )

    def _read(self, folder: str, ddl: str, *batches: str) -> DataFrame:
        places = [f"{folder}/batch={batch}" for batch in batches]
        present = [self.storage.at(place) for place in places if self.storage.exists(place)]
        if not present:
            return self.spark.createDataFrame([], f"{ddl}, batch string")
        reader = self.spark.read.schema(f"{ddl}, batch string")
        return reader.option("basePath", self.storage.at(folder)).parquet(*present)

    @contextmanager
    def writing(self, lock: str = _LOCK) -> Iterator[None]:
        """Nobody else writes meanwhile. The mark of a process that has died is taken over."""
        self.storage.make_folder()
        mine = json.dumps({"host": socket.gethostname(), "process": os.getpid()})
        if not self.storage.create_text(lock, mine):
            if not self._is_abandoned(lock):
                raise PipelineProblem(
                    f"Another run is writing to {self.storage.root}; if none is, remove"
                    f" {self.storage.at(lock)}."
                )
            self.storage.write_text(lock, mine)
        try:
            yield
        finally:
            self.storage.delete(lock)

    def _is_abandoned(self, lock: str) -> bool:
        try:
            holder = json.loads(self.storage.read_text(lock))
            if holder["host"] != socket.gethostname():
                return False
            os.kill(int(holder["process"]), 0)
        except ProcessLookupError:
            return True
        except (ValueError, KeyError, TypeError, OSError):
            return False
        return int(holder["process"]) == os.getpid()
