"""Tables that a job leaves in the store, replaced together or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipeline.errors import PipelineProblem
from pipeline.storage import Storage


class Results:
    """The newest tables of one job. A run writes all of them, then counts in their place."""

    def __init__(self, spark: SparkSession, storage: Storage, job: str) -> None:
        self._spark = spark
        self._storage = storage
        self._job = job

    def write(
        self,
        run: str,
        tables: Mapping[str, DataFrame],
        facts: Mapping[str, Any],
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Writes the tables under the name of the run; `facts` go beside them as JSON."""
        before = self._current()
        self._storage.delete(f"{self._job}/run={run}")
        for name, table in tables.items():
            tell(name)
            place = self._storage.at(f"{self._job}/run={run}/{name}")
            table.coalesce(1).write.parquet(place)
        text = json.dumps({"run": run, "tables": sorted(tables), "facts": facts}, indent=2)
        self._storage.make_folder(self._job)
        self._storage.write_text(f"{self._job}/current.json", text)
        if before is not None and before["run"] != run:
            self._storage.delete(f"{self._job}/run={before['run']}")

    def facts(self) -> dict[str, Any] | None:
        """What the newest run has told; None where there was none."""
        current = self._current()
        return None if current is None else dict(current["facts"])

    def read(self, name: str) -> DataFrame | None:
        """A table of the newest run; None where it has none of that name."""
        current = self._current()
        if current is None or name not in current["tables"]:
            return None
        return self._spark.read.parquet(
            self._storage.at(f"{self._job}/run={current['run']}/{name}")
        )

    def _current(self) -> dict[str, Any] | None:
        place = f"{self._job}/current.json"
        if not self._storage.exists(place):
            return None
        try:
            current = json.loads(self._storage.read_text(place))
            if {"run", "tables", "facts"} <= current.keys():
                return dict(current)
        except (ValueError, AttributeError):
            pass
        raise PipelineProblem(f"{self._storage.at(place)} is damaged: run the job again.")
