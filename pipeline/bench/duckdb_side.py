"""DuckDB's side: the same figures in SQL, on the landed files themselves. Also the check."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import duckdb

KINDS = "SELECT kind, count(*) FROM events WHERE kind <> 'DAMAGED' GROUP BY kind"

FIGURES = {
    "object_minutes": """
        SELECT "group", time_ns // 60000000000 AS minute, count(*) AS messages, sum(bytes) AS bytes
        FROM events WHERE kind = 'DELIVERY' GROUP BY ALL""",
    "object_latency": """
        SELECT "group", count(*) AS messages, sum(bytes) AS bytes,
               quantile_disc(latency_ns, 0.5) AS latency_ns_p50,
               quantile_disc(latency_ns, 0.95) AS latency_ns_p95,
               quantile_disc(latency_ns, 0.99) AS latency_ns_p99,
               max(latency_ns) AS latency_ns_max
        FROM events WHERE kind = 'DELIVERY' GROUP BY ALL""",
    "regions": """
        SELECT region, count(*) AS samples,
               quantile_disc(nullif(acknowledgement_ns, 0), 0.5) AS acknowledgement_ns_p50,
               quantile_disc(nullif(token_round_ns, 0), 0.5) AS token_round_ns_p50,
               quantile_disc(nullif(token_round_ns, 0), 0.95) AS token_round_ns_p95,
               quantile_disc(nullif(token_round_ns, 0), 0.99) AS token_round_ns_p99,
               max(unacknowledged) AS pending_max
        FROM events WHERE kind = 'REGION' GROUP BY ALL""",
    "bursts": """
        WITH read AS (
            SELECT e.node, e.time_ns,
                   e.counters[list_position(h.counter_names, 'packets_lost')] AS lost,
                   e.counters[list_position(h.counter_names, 'data_received')] AS received
            FROM events e
            JOIN (SELECT DISTINCT segment, counter_names FROM events WHERE kind = 'SEGMENT') h
            USING (segment) WHERE e.kind = 'COUNTERS'),
        steps AS (
            SELECT node, time_ns,
                   (time_ns - lag(time_ns) OVER node_order) / 1e9 AS step_s,
                   greatest(lost - lag(lost) OVER node_order, 0) AS lost,
                   greatest(received - lag(received) OVER node_order, 0) AS received
            FROM read WINDOW node_order AS (PARTITION BY node ORDER BY time_ns)),
        bad AS (
            SELECT *, CASE WHEN time_ns - lag(time_ns) OVER (PARTITION BY node ORDER BY time_ns)
                      <= 15000000000 THEN 0 ELSE 1 END AS first
            FROM steps
            WHERE step_s > 0 AND step_s <= 120 AND lost > 0.05 * (lost + received)),
        runs AS (
            SELECT *, sum(first) OVER (PARTITION BY node ORDER BY time_ns) AS run FROM bad)
        SELECT node, min(time_ns) AS start_ns, sum(lost)::BIGINT AS packets_lost
        FROM runs GROUP BY node, run""",
}


def connect(landing: str, threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """A database in memory whose view `events` is the landed files."""
    database = duckdb.connect()
    if threads is not None:
        database.execute(f"SET threads = {int(threads)}")
    files = f"{landing}/*.parquet".replace("'", "''")
    database.execute(f"CREATE VIEW events AS SELECT * FROM read_parquet('{files}')")  # noqa: S608
    return database


def main(landing: str, root: str) -> dict[str, Any]:
    database = connect(landing)
    began = time.monotonic()
    place = root.replace("'", "''")
    database.execute(
        "COPY (SELECT *, make_timestamp_ns(time_ns)::DATE AS date FROM events)"  # noqa: S608
        f" TO '{place}' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (date, kind))"
    )
    ingest_s = time.monotonic() - began
    began = time.monotonic()
    counts = {}
    for name, query in FIGURES.items():
        counts[name] = len(database.execute(query).fetchall())
    figures_s = time.monotonic() - began
    rows = dict(database.execute(KINDS).fetchall())
    return {"ingest_s": ingest_s, "figures_s": figures_s, "rows": rows, "counts": counts}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:3])) + "\n")
