"""What tests of jobs share: one Spark for all of them, a small trace, and a store made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from pipeline.columns import DDL, NAMES
from pipeline.generator.office import OfficePlan, make_office
from pipeline.generator.options import START_NS, TraceOptions
from pipeline.generator.write import write_landed
from pipeline.ingest.job import Ingested, IngestOptions, ingest
from pipeline.ingest.store import Store
from pipeline.session import SparkOptions, spark_session
from tests.pipeline.quick import QUICK

NOW_NS = START_NS + 86_400_000_000_000

Events = Callable[[Sequence[dict[str, Any]]], DataFrame]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    options = SparkOptions(master="local[2]", memory="1g", shuffle_partitions=2, settings=QUICK)
    with spark_session(options) as session:
        yield session


@pytest.fixture(scope="session")
def events(spark: SparkSession) -> Events:
    """Makes a frame of events: a base row, changed by what each one says."""

    def make(rows: Sequence[dict[str, Any]]) -> DataFrame:
        base = dict.fromkeys(NAMES) | {"version": 1, "segment": "s", "ordinal": 0, "time_ns": 1}
        listed = [tuple({**base, **row}[name] for name in NAMES) for row in rows]
        return spark.createDataFrame(listed, DDL)

    return make


@pytest.fixture(scope="session")
def landing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quarter of an hour of a small office, with all faults that the generator knows."""
    folder = tmp_path_factory.mktemp("landing")
    office = make_office(1, OfficePlan(people=60, objects=120, department=20, team=5))
    options = TraceOptions(events=12_000, hours=0.3, chunk_events=4000)
    write_landed(office, options, folder, lambda _: None)
    return folder


@pytest.fixture(scope="session")
def taken_in(
    spark: SparkSession, landing: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Store, Ingested]:
    store = Store(spark, str(tmp_path_factory.mktemp("store") / "store"))
    return store, ingest(spark, store, IngestOptions(str(landing), NOW_NS))


@pytest.fixture(scope="session")
def store(taken_in: tuple[Store, Ingested]) -> Store:
    return taken_in[0]
