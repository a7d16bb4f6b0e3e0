"""Records that name a person leave the store in time, whatever happens meanwhile, and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipeline.activity.forget import forget
from pipeline.ingest.job import IngestOptions, ingest
from pipeline.ingest.store import Store
from pipeline.landing.parquet_file import land
from tests.pipeline.conftest import NOW_NS
from tests.pipeline.tables import table_of

DAY_NS = 86_400_000_000_000
GROUP = "0f" * 16


def told(ordinal: int, name: str, days: float, **details: str) -> dict[str, Any]:
    base = {"version": 1, "segment": "a", "ordinal": ordinal, "kind": "APPLICATION", "node": 1}
    time_ns = NOW_NS - int(days * DAY_NS)
    return base | {"name": name, "time_ns": time_ns, "details": json.dumps(details)}


@pytest.fixture
def filled(spark: SparkSession, tmp_path: Path) -> Store:
    rows = [
        told(0, "opened", 20, group=GROUP, person="ada"),
        told(1, "prefetched", 20, group=GROUP),
        told(2, "opened", 10.1, group=GROUP, person="ada"),
        told(3, "opened", 9.9, group=GROUP, person="ada"),
        # Set aside for being late, and for having no time at all.
        told(4, "opened", 40, group=GROUP, person="ada"),
        told(5, "prefetched", 40, group=GROUP),
        told(6, "opened", 1, group=GROUP, person="ada") | {"time_ns": None},
        told(7, "opened", 1, group=GROUP, person="ada") | {"version": 9},
    ]
    land(table_of(rows), tmp_path / "landing", "one")
    store = Store(spark, str(tmp_path / "store"))
    done = ingest(spark, store, IngestOptions(str(tmp_path / "landing"), NOW_NS))
    assert done.manifest["problems"] == {"late": 2, "incomplete": 1, "version": 1}
    assert "ada" not in json.dumps(done.manifest)
    return store


def left(store: Store) -> tuple[list[int], list[int]]:
    events, aside = store.events(), store.quarantine()
    return sorted(row.ordinal for row in events.select("ordinal").collect()), sorted(
        row.ordinal for row in aside.select("ordinal").collect()
    )


def test_what_names_a_person_goes_in_time_and_nothing_else(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_ns = NOW_NS - 10 * DAY_NS
    assert forget(filled, NOW_NS - 100 * DAY_NS) == 1, "of unknown age"
    assert left(filled) == ([0, 1, 2, 3], [4, 5, 7])

    # Killed when the old folder is gone and the new one not yet in its place.
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(filled.storage, "move", die)
    with pytest.raises(KeyboardInterrupt):
        forget(filled, before_ns)
    monkeypatch.undo()
    forget(filled, before_ns)
    assert left(filled) == ([1, 3], [5, 7])
    assert forget(filled, before_ns) == 0
    assert sorted(filled.storage.folders("")) == ["events", "files", "manifests", "quarantine"]
