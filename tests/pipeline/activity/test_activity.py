"""Activity: people only when they and the caller agreed, what goes together, what can shrink."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pipeline.activity.compaction import compaction_candidates
from pipeline.activity.hints import write_hints
from pipeline.activity.job import ActivityOptions, activity
from pipeline.activity.people import object_days, person_events, pseudonymous, timelines
from pipeline.activity.together import BASKET_NS, baskets, co_access
from pipeline.errors import PipelineProblem
from pipeline.ingest.store import Store
from pipeline.results import Results
from tests.pipeline.conftest import NOW_NS, Events

MINUTE_NS = 60_000_000_000
DAY_NS = 86_400_000_000_000
GROUP = "0f" * 16


def action(
    name: str, minute: float, person: str | None = "ada", group: str = GROUP
) -> dict[str, Any]:
    told = {"group": group} | ({"person": person} if person else {})
    return {
        "kind": "APPLICATION",
        "node": 1,
        "name": name,
        "time_ns": NOW_NS + int(minute * MINUTE_NS),
        "details": json.dumps(told),
    }


def test_timelines_end_at_pauses_and_when_closed(events: Events) -> None:
    rows = [
        action("opened", 0),
        action("edited", 5),
        action("edited", 6),
        action("closed", 7),
        action("opened", 8),
        action("edited", 30),
        action("opened", 2, "jun"),
        action("gossiped", 3),
        action("opened", 3, None),
        action("opened", 3, group="not a group"),
        {**action("opened", 3), "details": "{"},
        {**action("opened", 3), "details": None},
        action("opened", -40 * 1440),
    ]
    found = person_events(events(rows), NOW_NS, retention_days=30)
    sessions = [
        (
            row.person,
            (row.start_ns - NOW_NS) // MINUTE_NS,
            (row.end_ns - NOW_NS) // MINUTE_NS,
            row.edits,
        )
        for row in timelines(found).collect()
    ]
    assert sorted(sessions) == [
        ("ada", 0, 7, 2),
        ("ada", 8, 8, 0),
        ("ada", 30, 30, 1),
        ("jun", 2, 2, 0),
    ]
    (day,) = object_days(found).collect()
    assert (day.group, day.people, day.opened, day.edited) == (GROUP, 2, 3, 3)
    hidden = {row.person for row in pseudonymous(found, "secret").collect()}
    other = {row.person for row in pseudonymous(found, "other").collect()}
    assert len(hidden) == len(other) == 2
    assert hidden.isdisjoint(other | {"ada", "jun"})


def test_co_access_counts_as_plain_python_does(events: Events) -> None:
    source = random.Random(8)
    filled: dict[tuple[int, int], set[str]] = defaultdict(set)
    rows = []
    for _ in range(400):
        node, basket = source.randrange(12), source.randrange(3)
        group = f"g{min(source.randrange(9), source.randrange(9))}"
        filled[node, basket].add(group)
        rows.append(
            {"kind": "VIEW", "node": node, "group": group, "time_ns": basket * BASKET_NS + 5}
        )
    together = Counter(pair for groups in filled.values() for pair in permutations(groups, 2))
    alone = Counter(group for groups in filled.values() for group in groups)
    frame, empty = events(rows), events([])
    found = co_access(baskets(empty, frame, empty)).collect()
    assert found
    for row in found:
        assert row.together == together[row.group, row.other]
        assert row.confidence == pytest.approx(row.together / alone[row.group])
        expected = row.confidence * len(filled) / alone[row.other]
        assert row.lift == pytest.approx(expected)
    assert len(found) == sum(1 for count in together.values() if count >= 2)


def test_what_programs_fetched_by_themselves_proves_nothing(events: Events) -> None:
    def told(name: str, node: int, group: str) -> dict[str, Any]:
        details = json.dumps({"group": group})
        return {"kind": "APPLICATION", "name": name, "node": node, "details": details}

    joined = events(
        [{"kind": "VIEW", "node": node, "group": group} for node in (1, 2) for group in ("a", "b")]
    )
    by_itself = events(
        [told("prefetched", 1, "b"), told("prefetched", 2, "b"), told("used", 2, "b")]
    )
    found = baskets(events([]), joined, by_itself).collect()
    assert sorted((row.node, row.group) for row in found) == [(1, "a"), (2, "a"), (2, "b")]


def test_advice_for_programs_is_what_is_sure(spark: SparkSession, tmp_path: Path) -> None:
    columns = (
        "group string, other string, place int, together bigint, confidence double, lift double"
    )
    together = spark.createDataFrame(
        [
            ("a", "c", 2, 5, 0.5, 3.0),
            ("a", "b", 1, 9, 0.9, 3.0),
            ("a", "d", 3, 5, 0.9, 1.0),
            ("b", "a", 1, 9, 0.3, 3.0),
        ],
        columns,
    )
    compaction = spark.createDataFrame([("z",)], "group string")
    told = write_hints(together, compaction, tmp_path / "hints.json")
    assert told == {"objects_with_others": 1, "objects_to_fold": 1}
    written = json.loads((tmp_path / "hints.json").read_text())
    assert written == {"form": 1, "together": {"a": ["b", "c"]}, "fold": ["z"]}


def test_histories_at_rest_are_candidates(events: Events) -> None:
    def tally(group: str, hour: float, messages: int) -> dict[str, Any]:
        sums = {"messages": messages, "bytes": messages * 9, "own_messages": 0, "own_bytes": 0}
        return {"kind": "GROUP", "group": group, "node": 1, "time_ns": int(hour * 3.6e12), **sums}

    rows = [
        *(tally("long", 1, 5000), tally("long", 5, 5000)),
        *(tally("short", 1, 10), tally("short", 5, 10)),
        *(tally("busy", 1, 5000), tally("busy", 5, 9000)),
    ]
    (found,) = compaction_candidates(events(rows)).collect()
    assert (found.group, found.messages, found.bytes) == ("long", 5000, 45_000)
    assert found.idle_ns == int(4 * 3.6e12)


def test_people_are_left_out_unless_asked_for(
    spark: SparkSession, store: Store, tmp_path: Path
) -> None:
    results = Results(spark, store.storage, "activity")
    activity(spark, store, "one", ActivityOptions(NOW_NS, people=True))
    found = results.read("timelines")
    assert found is not None
    people = {row.person for row in found.select("person").distinct().collect()}
    assert people
    assert not any(person.startswith("p0") for person in people)
    hints = tmp_path / "hints.json"
    told = activity(spark, store, "two", ActivityOptions(NOW_NS, hints=hints))
    assert len(json.loads(hints.read_text())["together"]) == told["objects_with_others"] > 0
    assert results.read("timelines") is None
    facts = {"people": False, "pseudonymous": False, "retention_days": 30.0, "forgotten": 0}
    assert results.facts() == facts
    assert store.storage.folders("activity") == ["run=two"], "the timelines of before are gone"
    secret = Path(store.storage.root, "activity", "secret.json")
    secret.write_text("{}")
    Path(secret.parent, ".secret.json.crc").unlink(missing_ok=True)
    with pytest.raises(PipelineProblem, match="is damaged"):
        activity(spark, store, "three", ActivityOptions(NOW_NS, people=True))
