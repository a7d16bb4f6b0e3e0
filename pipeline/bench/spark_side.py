"""Spark's side of the benchmark: ingest with all its checks, four figures, then all tables."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from pipeline.analytics import deliveries, engines
from pipeline.analytics.job import analyse
from pipeline.generator.options import START_NS
from pipeline.ingest.job import IngestOptions, ingest
from pipeline.ingest.store import Store
from pipeline.session import SparkOptions, spark_session

NOW_NS = START_NS + 2 * 86_400_000_000_000


def four_figures(store: Store) -> dict[str, DataFrame]:
    """What every side computes."""
    single, regions = store.events("DELIVERY"), store.events("REGION")
    steps = engines.counter_steps(store.events("COUNTERS"), store.events("SEGMENT"))
    return {
        "object_minutes": deliveries.object_minutes(single),
        "object_latency": deliveries.object_latency(single),
        "regions": engines.region_times(regions),
        "bursts": engines.loss_bursts(steps),
    }


def _computed(table: DataFrame) -> int:
    """Computes every column, which counting alone would not; gives the number of rows."""
    seen = Observation()
    table.observe(seen, F.count(F.lit(1)).alias("rows")).write.format("noop").mode(
        "overwrite"
    ).save()
    return int(seen.get["rows"])


def main(landing: str, root: str, master: str) -> dict[str, Any]:
    began = time.monotonic()
    with spark_session(SparkOptions(master=master, memory="4g")) as spark:
        start_s = time.monotonic() - began
        store = Store(spark, root)
        began = time.monotonic()
        done = ingest(spark, store, IngestOptions(landing, NOW_NS))
        ingest_s = time.monotonic() - began
        began = time.monotonic()
        counts = {name: _computed(table) for name, table in four_figures(store).items()}
        figures_s = time.monotonic() - began
        began = time.monotonic()
        analyse(spark, store, "bench")
        return {
            "start_s": start_s,
            "ingest_s": ingest_s,
            "figures_s": figures_s,
            "all_tables_s": time.monotonic() - began,
            "rows": done.manifest["rows"],
            "counts": counts,
        }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:4])) + "\n")
