"""Ingest: nothing is lost silently, nothing is there twice, whatever lies in the landing folder."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipeline.bench.duckdb_side import KINDS, connect
from pipeline.errors import PipelineProblem
from pipeline.ingest import job, landed
from pipeline.ingest.job import Ingested, IngestOptions, ingest
from pipeline.ingest.store import Store
from pipeline.ingest.transform import PROBLEMS, classify, mark_duplicates
from pipeline.landing.naming import digest_of
from pipeline.landing.parquet_file import land, parquet_bytes
from tests.pipeline.conftest import NOW_NS, Events
from tests.pipeline.tables import table_of

DAY_NS = 86_400_000_000_000


def health(ordinal: int, **changes: Any) -> dict[str, Any]:
    base = {"version": 1, "segment": "a", "ordinal": ordinal, "kind": "HEALTH", "node": 1}
    return base | {"health": 3, "reason": 1, "time_ns": NOW_NS, **changes}


def test_every_row_is_taken_in_and_duckdb_counts_the_same(
    taken_in: tuple[Store, Ingested], landing: Path
) -> None:
    store, done = taken_in
    expected = dict(connect(str(landing)).execute(KINDS).fetchall())
    assert done.manifest["rows"] == expected
    assert (done.set_aside, done.refused, done.rows) == (0, 0, 12_000)
    counted = {
        row["kind"]: row["count"] for row in store.events().groupBy("kind").count().collect()
    }
    assert counted == expected
    assert [manifest["batch"] for manifest in store.manifests()] == [done.batch]


def test_nothing_new_is_nothing_done(
    spark: SparkSession, taken_in: tuple[Store, Ingested], landing: Path
) -> None:
    store, done = taken_in
    assert ingest(spark, store, IngestOptions(str(landing), NOW_NS)).batch is None
    assert store.batches() == [done.batch]


def test_rows_are_sorted_out_by_what_is_wrong_with_them(events: Events) -> None:
    late_ns, future_ns = NOW_NS - 40 * DAY_NS, NOW_NS + DAY_NS
    cases: list[tuple[dict[str, Any], str | None]] = [
        (health(0), None),
        (health(1, kind="DAMAGED", details="{}"), "damaged"),
        (health(2, version=None), "no head"),
        (health(3, version=2), "version"),
        (health(4, kind="GOSSIP"), "unknown kind"),
        (health(5, kind=None), "unknown kind"),
        (health(6, node=None), "incomplete"),
        (health(7, time_ns=None), "incomplete"),
        (health(11, kind="LOST", lost=1 << 60), "out of range"),
        (health(8, time_ns=future_ns), "from the future"),
        (health(9, time_ns=late_ns), "late"),
        (health(9), "duplicate"),
        (health(0, segment="b"), None),
    ]
    frame = classify(events([row for row, _ in cases]), NOW_NS, 31 * DAY_NS)
    found = mark_duplicates(frame, ["a"]).collect()
    told = sorted((row.segment, row.ordinal, row.problem or "") for row in found)
    assert told == sorted((row["segment"], row["ordinal"], why or "") for row, why in cases)
    assert {why for _, why in cases if why} == set(PROBLEMS)


@pytest.fixture(scope="module")
def bad_landing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every wrong file there is, beside two good ones."""
    folder = tmp_path_factory.mktemp("bad")
    good = [health(n) for n in range(10)] + [health(9), health(10, version=7)]
    path = land(table_of(good), folder, "good")
    land(table_of([health(n, segment="b") for n in range(5)]), folder / "below", "other")
    whole = path.read_bytes()
    land(table_of([*good, health(11)]), folder, "same-segment")
    (folder / "notes.parquet").write_bytes(whole)
    (folder / f"cut-{digest_of(whole)}.parquet").write_bytes(whole[:-9])
    (folder / f"rubbish-{digest_of(b'rubbish')}.parquet").write_bytes(b"rubbish")
    (folder / "empty-0123456789abcdef.parquet").write_bytes(b"")
    (folder / "readme.txt").write_text("not looked at")
    # The right digest over a page that cannot be decoded: only Spark's own reading finds it.
    hurt = bytearray(parquet_bytes(table_of([health(n, segment="c") for n in range(2000)])))
    hurt[2000:2600] = bytes(600)
    (folder / f"page-{digest_of(bytes(hurt))}.parquet").write_bytes(bytes(hurt))
    return folder


def test_bad_files_and_rows_are_set_aside_with_counts_and_samples(
    spark: SparkSession, bad_landing: Path, tmp_path: Path
) -> None:
    store = Store(spark, str(tmp_path / "store"))
    done = ingest(spark, store, IngestOptions(str(bad_landing), NOW_NS))
    files = done.manifest["files"]
    assert files.pop("good") == 2
    assert files.pop("unreadable") + files.pop("columns", 0) + files.pop("mixed", 0) == 2
    assert files == {"digest": 1, "empty": 1, "duplicate segment": 1, "name": 1}
    assert len(done.manifest["refused_files"]) == 6
    assert done.manifest["rows"] == {"HEALTH": 15}
    assert done.manifest["problems"] == {"duplicate": 1, "version": 1}
    assert json.loads(done.manifest["samples"]["version"][0])["version"] == 7
    aside = store.quarantine().collect()
    assert sorted(row.problem for row in aside) == ["duplicate", "version"]
    assert store.events("HEALTH").count() == 15

    # Again, in place of before; then with a file that has been mended.
    again = ingest(spark, store, IngestOptions(str(bad_landing), NOW_NS, again=True))
    assert store.batches() == [again.batch]
    assert store.storage.folders("events") == [f"batch={again.batch}"], "what was before is gone"
    assert again.manifest["rows"] == done.manifest["rows"]
    assert store.events("HEALTH").count() == 15
    mended = bad_landing / "empty-0123456789abcdef.parquet"
    mended.unlink()
    land(table_of([health(n, segment="d") for n in range(3)]), bad_landing, "mended")
    more = ingest(spark, store, IngestOptions(str(bad_landing), NOW_NS))
    assert (more.rows, more.refused) == (3, 0)
    assert store.events("HEALTH").count() == 18
    assert len(store.batches()) == 2


def test_run_that_dies_before_it_counts_leaves_nothing_that_is_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    landing = tmp_path / "landing"
    land(table_of([health(n) for n in range(4)]), landing, "one")
    store = Store(spark, str(tmp_path / "store"))

    monkeypatch.setattr(store, "commit", _die)
    with pytest.raises(KeyboardInterrupt):
        ingest(spark, store, IngestOptions(str(landing), NOW_NS))
    assert (tmp_path / "store" / "events").exists()
    assert store.events().count() == 0
    monkeypatch.undo()
    assert ingest(spark, store, IngestOptions(str(landing), NOW_NS)).rows == 4
    assert store.events().count() == 4
    assert not (tmp_path / "store" / "lock.json").exists()


def test_what_counts_stays_until_its_successor_counts(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    path = land(table_of([health(n) for n in range(4)]), here, "one")
    land(table_of([health(n, segment="b") for n in range(3)]), there, "two")
    store = Store(spark, str(tmp_path / "store"))
    for landing in (here, there):
        ingest(spark, store, IngestOptions(str(landing), NOW_NS))
    before = store.batches()

    # Everything anew, and killed just before it counts.
    monkeypatch.setattr(store, "commit", _die)
    with pytest.raises(KeyboardInterrupt):
        ingest(spark, store, IngestOptions(str(here), NOW_NS, again=True))
    monkeypatch.undo()
    assert (store.batches(), store.events().count()) == (before, 7)

    # What came from elsewhere is not replaced, however the folder is spelled.
    spelled = f"{there}/./../here/"
    assert ingest(spark, store, IngestOptions(spelled, NOW_NS, again=True)).rows == 4
    assert (len(store.batches()), store.events().count()) == (2, 7)

    # A file that rots after it was taken in takes nothing with it.
    path.write_bytes(path.read_bytes()[:-1])
    rotten = ingest(spark, store, IngestOptions(str(here), NOW_NS))
    assert (rotten.rows, rotten.refused, store.events().count()) == (0, 1, 7)


def _die(*_: object) -> None:
    raise KeyboardInterrupt


def test_store_refuses_what_it_cannot_trust(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "store"
    store = Store(spark, str(root))
    with pytest.raises(PipelineProblem, match="holds no events"):
        store.check_not_empty()
    root.mkdir(exist_ok=True)
    for text in ("{", "[]", '{"form": 1}'):
        (root / "current.json").write_text(text)
        with pytest.raises(PipelineProblem, match="is damaged"):
            store.batches()
    (root / "current.json").write_text('{"form": 2, "batches": []}')
    with pytest.raises(PipelineProblem, match="form 2"):
        store.batches()
    shutil.rmtree(root)
    with pytest.raises(PipelineProblem, match="does not exist"):
        ingest(spark, store, IngestOptions(str(tmp_path / "none"), NOW_NS))


def test_two_runs_do_not_write_at_once(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "store"
    store = Store(spark, str(root))
    root.mkdir()
    for holder in ('{"host": "elsewhere", "process": 1}', "damaged"):
        (root / "lock.json").write_text(holder)
        (root / ".lock.json.crc").unlink(missing_ok=True)
        with pytest.raises(PipelineProblem, match="Another run is writing"), store.writing():
            pass
    gone = {"host": socket.gethostname(), "process": 2**22 + 1}
    (root / "lock.json").write_text(json.dumps(gone))
    with store.writing():
        pass
    assert not (root / "lock.json").exists()


def test_store_in_the_way_of_a_file_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    land(table_of([health(0)]), landing, "one")
    (tmp_path / "file").write_text("in the way")
    store = Store(spark, str(tmp_path / "file"))
    with pytest.raises(PipelineProblem, match=r"cannot be (made|written)"):
        ingest(spark, store, IngestOptions(str(landing), NOW_NS))


def test_store_that_nobody_can_reach_is_refused(spark: SparkSession) -> None:
    with pytest.raises(PipelineProblem, match="cannot be reached"):
        Store(spark, "nowhere://host/store")


def test_landing_without_files_is_nothing_done(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    store = Store(spark, str(tmp_path / "store"))
    assert ingest(spark, store, IngestOptions(str(tmp_path / "landing"), NOW_NS)) is job.NOTHING


def test_folders_may_have_any_name(spark: SparkSession, tmp_path: Path) -> None:
    landing = tmp_path / "of Ada & Bo, 100%20"
    land(table_of([health(n) for n in range(4)]), landing, "one")
    (landing / "empty-0123456789abcdef.parquet").write_bytes(b"")
    done = ingest(spark, Store(spark, str(tmp_path / "store")), IngestOptions(str(landing), NOW_NS))
    assert (done.rows, done.manifest["files"]) == (4, {"empty": 1, "good": 1})


def test_verdicts_are_the_same_wherever_they_are_found(
    spark: SparkSession, bad_landing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = landed.all_files(spark, str(bad_landing))
    here = landed.check(spark, files, set(), whole=True)
    monkeypatch.setattr(landed, "_is_here", lambda *_: False)
    assert landed.check(spark, files, set(), whole=True) == here
