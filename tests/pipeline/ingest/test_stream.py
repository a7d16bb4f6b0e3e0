"""Ingest as a stream: stopped and killed at the worst moments, and begun again."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipeline.errors import PipelineProblem
from pipeline.ingest.job import IngestOptions
from pipeline.ingest.store import Store
from pipeline.ingest.stream import stream
from pipeline.landing.parquet_file import land
from tests.pipeline.conftest import NOW_NS
from tests.pipeline.ingest.test_ingest import health
from tests.pipeline.tables import table_of


def put(landing: Path, segment: str, rows: int = 4) -> None:
    land(table_of([health(n, segment=segment) for n in range(rows)]), landing, segment)


def segments(store: Store) -> dict[str, int]:
    counted = store.events("HEALTH").groupBy("segment").count().collect()
    return {row["segment"]: row["count"] for row in counted}


def test_stream_goes_on_from_its_checkpoint_without_loss_or_doubles(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    landing = tmp_path / "landing"
    options = IngestOptions(str(landing), NOW_NS)
    put(landing, "a")
    put(landing, "b")
    store = Store(spark, str(tmp_path / "store"))
    batches: list[Any] = []

    stream(spark, store, options, tell=batches.append)
    assert segments(store) == {"a": 4, "b": 4}
    first = store.batches()

    # Killed between writing and counting: the same micro-batch comes again, and replaces.
    put(landing, "c")
    (landing / "cut-0123456789abcdef.parquet").write_bytes(b"PAR1")

    def die(*_: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(store, "commit", die)
    with pytest.raises(PipelineProblem, match="stream has ended"):
        stream(spark, store, options)
    assert segments(store) == {"a": 4, "b": 4}
    monkeypatch.undo()
    stream(spark, store, options, tell=batches.append)
    assert segments(store) == {"a": 4, "b": 4, "c": 4}
    assert len(store.batches()) == len(first) + 1
    assert batches[-1].refused == 1

    # Killed after counting, before Spark noted that it is done: seen again, and known.
    put(landing, "d")
    real = store.commit

    def die_after(*arguments: Any) -> None:
        real(*arguments)
        raise RuntimeError("killed")

    monkeypatch.setattr(store, "commit", die_after)
    with pytest.raises(PipelineProblem, match="stream has ended"):
        stream(spark, store, options)
    monkeypatch.undo()
    stream(spark, store, options)
    assert segments(store) == dict.fromkeys("abcd", 4)

    # Nothing new, nothing done.
    before = store.batches()
    stream(spark, store, options)
    assert store.batches() == before

    # Its checkpoint is lost, and it counts from 0 again: what there is stays.
    shutil.rmtree(tmp_path / "store" / "checkpoints")
    put(landing, "e")
    stream(spark, store, options)
    assert segments(store) == dict.fromkeys("abcde", 4)


def test_stream_from_a_folder_that_is_none_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(spark, str(tmp_path / "store"))
    with pytest.raises(PipelineProblem, match="does not exist"):
        stream(spark, store, IngestOptions(str(tmp_path / "none"), NOW_NS))
