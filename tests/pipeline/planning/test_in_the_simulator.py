"""The whole circle: engines log, the pipeline plans, engines load the plan, and it pays."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipeline.ingest.job import IngestOptions, ingest
from pipeline.ingest.store import Store
from pipeline.landing.collect import collect
from pipeline.planning.job import PlanOptions, plan
from transport.policies import Policy
from transport.policy_trial import office_trace, play

NOW_NS = 1_790_000_000_000_000_000 + 3_600_000_000_000


def test_plan_from_logs_lowers_repairs_datagrams_and_moves(
    spark: SparkSession, tmp_path: Path
) -> None:
    # Two hundred messages a second: where next to nothing is sent, the tokens of three regions for
    # each node are more than what is saved.
    trace = office_trace(
        1, nodes=30, groups=45, department=15, absences=0.02, seconds=8, messages=1600
    )
    logs = tmp_path / "logs"
    exact = play(trace, Policy["EXACT"], logs=logs)
    done = collect(sorted(logs.iterdir()), tmp_path / "landing")
    assert done.refused == 0
    store = Store(spark, str(tmp_path / "store"))
    taken = ingest(spark, store, IngestOptions(str(tmp_path / "landing"), NOW_NS))
    assert (taken.rows, taken.set_aside) == (done.rows, 0)
    assert taken.manifest["rows"]["DELIVERY"] == exact.delivered

    facts = plan(spark, store, "trial", PlanOptions(tmp_path / "plan.txt"))
    assert facts["nodes"] == trace.nodes
    assert facts["known_groups"] == len(trace.groups)
    planned = play(trace, Policy["PLAN"], plan=(tmp_path / "plan.txt").read_text())

    assert planned.sent == exact.sent
    assert planned.delivered == pytest.approx(exact.delivered, rel=0.001)
    assert planned.datagrams < 0.9 * exact.datagrams
    assert planned.repairs < exact.repairs
    assert planned.moves < 0.4 * exact.moves
    # The prediction is for whoever had a group open at any time; some close theirs for a while.
    predicted = facts["plan"]["waste"]
    assert planned.unwanted / planned.delivered == pytest.approx(predicted, abs=0.05)
