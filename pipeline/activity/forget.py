"""Takes records that name a person out of the store when they are older than they may be.

A day's records are written anew without them and put in place of the old ones. A note says which
folder is being replaced, so that a run that dies in between is brought to its end by the next one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from pyspark.sql import Column
from pyspark.sql import functions as F

from pipeline.ingest.store import Store

_NEW = "forgetting"
_NOTE = "forgetting.json"
_LOCK = "forgetting-lock.json"


def forget(store: Store, before_ns: int) -> int:
    """Removes what names a person and is from before that time; gives the number of records.

    A record that was set aside may be without a time: nobody can say that it is new, so it goes.
    """
    gone = 0
    # Who takes files in does not touch batches that count: that may go on meanwhile.
    with store.writing(_LOCK):
        _finish(store)
        for place, named in _places(store, before_ns):
            old = F.coalesce(F.col("time_ns") < before_ns, F.lit(True))
            gone += _rewrite(store, place, named & old)
    return gone


def _places(store: Store, before_ns: int) -> Iterator[tuple[str, Column]]:
    """Folders that may hold such records, and how those are told from others."""
    last_day = f"date={datetime.fromtimestamp(before_ns / 1e9, UTC):%Y-%m-%d}"
    for batch in store.batches():
        days = f"events/batch={batch}/kind=APPLICATION"
        for day in store.storage.folders(days):
            if day <= last_day:
                yield f"{days}/{day}", F.col("details").contains('"person"')
        aside = f"quarantine/batch={batch}"
        if store.storage.exists(aside):
            # As a whole in text, in which the quotes of `details` are escaped.
            yield aside, F.col("row").contains('\\"person\\"')


def _rewrite(store: Store, place: str, old: Column) -> int:
    rows = store.spark.read.parquet(store.storage.at(place))
    count = rows.where(old).count()
    if count:
        kept = rows.where(~F.coalesce(old, F.lit(False)))
        kept.coalesce(1).write.mode("overwrite").parquet(store.storage.at(_NEW))
        store.storage.write_text(_NOTE, json.dumps({"place": place}))
        _finish(store)
    return count


def _finish(store: Store) -> None:
    """Puts in place what the note says is complete; anything else was only begun."""
    storage = store.storage
    if storage.exists(_NOTE) and storage.exists(_NEW):
        place = str(json.loads(storage.read_text(_NOTE))["place"])
        storage.delete(place)
        storage.move(_NEW, place)
    storage.delete(_NOTE)
    storage.delete(_NEW)
