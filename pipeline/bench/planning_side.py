"""Region planning measured from the landed files on: ingest, interest, the plan, what it costs."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from pipeline.bench.spark_side import NOW_NS
from pipeline.ingest.job import IngestOptions, ingest
from pipeline.ingest.store import Store
from pipeline.planning.job import PlanOptions, plan
from pipeline.session import SparkOptions, spark_session


def main(landing: str, root: str, master: str) -> dict[str, Any]:
    with spark_session(SparkOptions(master=master, memory="4g")) as spark:
        store = Store(spark, root)
        began = time.monotonic()
        done = ingest(spark, store, IngestOptions(landing, NOW_NS))
        ingest_s = time.monotonic() - began
        began = time.monotonic()
        facts = plan(spark, store, "bench", PlanOptions(Path(root, "plan.txt")))
        plan_s = time.monotonic() - began
        return {"ingest_s": ingest_s, "plan_s": plan_s, "memberships": done.rows, **facts}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:4])) + "\n")
