"""The activity job: what goes together and what can shrink; timelines of people only when asked."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipeline.activity.compaction import compaction_candidates
from pipeline.activity.forget import forget
from pipeline.activity.hints import write_hints
from pipeline.activity.people import DAY_NS, object_days, person_events, pseudonymous, timelines
from pipeline.activity.together import baskets, co_access
from pipeline.errors import PipelineProblem
from pipeline.ingest.store import Store
from pipeline.results import Results

JOB = "activity"
RETENTION_DAYS = 30.0
_SECRET = "activity/secret.json"  # noqa: S105 - the name of a file


@dataclass(frozen=True, slots=True)
class ActivityOptions:
    """`people` must be asked for; `names` leaves them as the applications wrote them."""

    now_ns: int
    people: bool = False
    names: bool = False
    retention_days: float = RETENTION_DAYS
    hints: Path | None = None


def activity(
    spark: SparkSession,
    store: Store,
    run: str,
    options: ActivityOptions,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Writes the tables; those of an earlier run are gone, and with them what is too old."""
    store.check_not_empty()
    # Whether or not anybody asks for people: what is too old goes.
    forgotten = forget(store, int(options.now_ns - options.retention_days * DAY_NS))
    samples, views = store.events("GROUP"), store.events("VIEW")
    application = store.events("APPLICATION")
    tables: dict[str, DataFrame] = {
        "together": co_access(baskets(samples, views, application)),
        "compaction": compaction_candidates(samples),
    }
    if options.people:
        events = person_events(application, options.now_ns, options.retention_days)
        if not options.names:
            events = pseudonymous(events, _secret(store))
        tables["timelines"] = timelines(events)
        tables["object_days"] = object_days(events)
    facts = {
        "people": options.people,
        "pseudonymous": options.people and not options.names,
        "retention_days": options.retention_days,
        "forgotten": forgotten,
    }
    results = Results(spark, store.storage, JOB)
    results.write(run, tables, facts, tell)
    if options.hints is not None:
        together, compaction = results.read("together"), results.read("compaction")
        assert together is not None, "it was written just now"
        assert compaction is not None, "so was this"
        facts |= write_hints(together, compaction, options.hints)
    return facts


def _secret(store: Store) -> str:
    """The secret of this store, made when it is first needed."""
    if not store.storage.exists(_SECRET):
        store.storage.make_folder(JOB)
        store.storage.write_text(_SECRET, json.dumps({"secret": secrets.token_hex(16)}))
    try:
        return str(json.loads(store.storage.read_text(_SECRET))["secret"])
    except (ValueError, KeyError, TypeError):
        place = store.storage.at(_SECRET)
        raise PipelineProblem(f"{place} is damaged: remove it, and names will change.") from None
