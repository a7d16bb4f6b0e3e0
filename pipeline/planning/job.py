"""The planning job: events of the store in, a plan file and what it would cost out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from pipeline.files import replace_file
from pipeline.ingest.store import Store
from pipeline.planning.cost import exact_cost
from pipeline.planning.interest import Interest
from pipeline.planning.merge import Limits, cluster_of
from pipeline.planning.plan import Plan, make_plan
from pipeline.planning.plan_file import plan_text, read_plan
from pipeline.planning.transform import read_interest
from pipeline.results import Results

JOB = "planning"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """`out` is where the plan goes, `last` the one that is in use now."""

    out: Path
    last: Path | None = None
    limits: Limits = field(default_factory=Limits)


def plan(
    spark: SparkSession,
    store: Store,
    run: str,
    options: PlanOptions,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Writes the plan file; gives its cost beside that of the exact policy."""
    store.check_not_empty()
    last = read_plan(options.last) if options.last is not None else None
    tell("who is in which group")
    interest = read_interest(spark, store.events("GROUP"), store.events("VIEW"))
    made = make_plan(interest, options.limits, last, tell=tell)
    facts = {
        "nodes": interest.node_count,
        "known_groups": len(interest.groups),
        "plan": made.facts(),
        "exact": exact_cost(interest).as_dict(),
    }
    comment = (
        f"{len(made.sets)} sets, {made.cost.regions_mean:.1f} regions a node,"
        f" {made.cost.waste:.1%} unwanted, {made.moves} moves"
    )
    text = plan_text(made.sets, ("made by live-objects pipeline plan", comment))
    replace_file(options.out, text.encode("ascii"))
    tell("tables")
    table = _set_table(spark, interest, made)
    Results(spark, store.storage, JOB).write(run, {"sets": table}, facts)
    return facts


def _set_table(spark: SparkSession, interest: Interest, made: Plan) -> DataFrame:
    place = {group: number for number, group in enumerate(interest.groups)}
    rows = []
    for planned in made.sets:
        cluster = cluster_of(interest, [place[group] for group in planned.groups])
        size = cluster.region.bit_count()
        rows.append((planned.name, planned.kind, len(planned.groups), size, cluster.traffic))
    ddl = "name string, kind string, groups int, nodes int, bytes double"
    return spark.createDataFrame(rows, ddl)
