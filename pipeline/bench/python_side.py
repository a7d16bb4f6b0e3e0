"""Plain Python's side: one pass over the rows with dictionaries, percentiles by sorting."""

from __future__ import annotations

import itertools
import json
import sys
import time
from array import array
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

COLUMNS = [
    *("kind", "time_ns", "node", "group", "region", "bytes", "latency_ns"),
    *("token_round_ns", "counters", "counter_names", "segment"),
]
MINUTE_NS = 60_000_000_000
BURST_GAP_NS = 15_000_000_000


class Figures:
    """The same four figures, as they come about row by row."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.minutes: dict[tuple[str, int], list[int]] = {}
        self.latencies: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self.tokens: dict[int, array[int]] = defaultdict(lambda: array("q"))
        self.samples: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self._names: dict[str, tuple[int, int]] = {}

    def take(self, row: tuple[Any, ...]) -> None:
        kind, time_ns, node, group, region, size, latency, token, counters, names, segment = row
        self.rows[kind] += 1
        if kind == "DELIVERY":
            sums = self.minutes.setdefault((group, time_ns // MINUTE_NS), [0, 0])
            sums[0] += 1
            sums[1] += size
            self.latencies[group].append(latency)
        elif kind == "REGION":
            self.tokens[region].append(token)
        elif kind == "SEGMENT":
            self._names[segment] = (names.index("packets_lost"), names.index("data_received"))
        elif kind == "COUNTERS":
            lost, received = self._names[segment]
            self.samples[node].append((time_ns, counters[lost], counters[received]))

    def bursts(self) -> int:
        """How many runs of steps had more than a twentieth lost."""
        found = 0
        for samples in self.samples.values():
            samples.sort()
            last_bad_ns = None
            for (before, lost0, got0), (now, lost1, got1) in itertools.pairwise(samples):
                step_s, lost, got = (now - before) / 1e9, max(0, lost1 - lost0), max(0, got1 - got0)
                if 0 < step_s <= 120 and lost > 0.05 * (lost + got):
                    if last_bad_ns is None or now - last_bad_ns > BURST_GAP_NS:
                        found += 1
                    last_bad_ns = now
        return found

    def counts(self) -> dict[str, int]:
        """The numbers of rows of all figures; percentiles are computed on the way."""
        for values in (*self.latencies.values(), *self.tokens.values()):
            ordered = sorted(values)
            _ = [ordered[int(part * (len(ordered) - 1))] for part in (0.5, 0.95, 0.99)]
        return {
            "object_minutes": len(self.minutes),
            "object_latency": len(self.latencies),
            "regions": len(self.tokens),
            "bursts": self.bursts(),
        }


def read(landing: str) -> Figures:
    figures = Figures()
    for path in sorted(Path(landing).glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(columns=COLUMNS):
            columns = [batch.column(name).to_pylist() for name in COLUMNS]
            for row in zip(*columns, strict=True):
                figures.take(row)
    return figures


def main(landing: str) -> dict[str, Any]:
    began = time.monotonic()
    figures = read(landing)
    counts = figures.counts()
    figures_s = time.monotonic() - began
    return {"figures_s": figures_s, "rows": dict(figures.rows), "counts": counts}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])) + "\n")
