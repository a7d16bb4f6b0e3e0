"""Writes generated logs: as landed Parquet files, or as the framed segments that programs write."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.columns import record_of
from pipeline.files import replace_file
from pipeline.generator.engines import COUNTER_NAMES
from pipeline.generator.office import Office, node_of
from pipeline.generator.options import START_NS, TraceOptions
from pipeline.generator.table import Words, part, segment_table
from pipeline.generator.trace import trace_tables
from pipeline.landing.parquet_file import land
from transport.event_log_schema import CLOSED_FOLDER, SUFFIX, Record, frame

Tell = Callable[[int], None]

WRITERS = 2


def write_landed(office: Office, options: TraceOptions, landing: Path, tell: Tell) -> int:
    """Parquet files, as if a collector had landed them; gives the number of events."""
    written = 0
    waiting: deque[Future[Path]] = deque()
    # Compressing takes as long as drawing, and lets other threads run meanwhile.
    with ThreadPoolExecutor(WRITERS) as pool:
        for number, table in enumerate(trace_tables(office, options)):
            if len(waiting) == WRITERS:
                waiting.popleft().result()
            name = f"generated-{options.seed}-{number:06d}"
            waiting.append(pool.submit(land, table, landing, name))
            written += table.num_rows
            tell(written)
        for each in waiting:
            each.result()
    return written


def write_segments(office: Office, options: TraceOptions, logs: Path, tell: Tell) -> int:
    """Closed segments, byte for byte as programs write them; slower, for smaller traces."""
    closed = logs / CLOSED_FOLDER
    written = 0
    for number, table in enumerate(trace_tables(office, options)):
        frames = [_frame(row) for row in table.to_pylist()]
        name = f"{options.start_ns:020d}-{options.seed}-{number}{SUFFIX}"
        replace_file(closed / name, b"".join(frames))
        written += table.num_rows
        tell(written)
    return written


def _frame(row: dict[str, Any]) -> bytes:
    kind, time_ns, values = record_of(row)
    return frame(Record[kind], time_ns, values)


def write_memberships(
    office: Office, landing: Path, *, seconds: float = 28_800.0, messages: float = 1e6
) -> int:
    """Who has which object and what went through it in a day: one sample of a tally for each.

    It is what planning reads, without the millions of events that it would not look at.
    """
    rows = 0
    sizes = office.sizes
    counts = np.maximum(1, (office.rates * messages).round()).astype(np.int64)
    nodes = np.array([node_of(person) for person in range(office.plan.people)], dtype=np.int64)
    for number, some in enumerate(
        np.array_split(np.arange(len(sizes)), max(1, len(sizes) // 2000))
    ):
        people = np.concatenate([office.members[each] for each in some])
        objects = np.repeat(some, sizes[some])
        rows_of_all = part(
            len(people),
            kind="GROUP",
            time_ns=np.full(len(people), START_NS + int(seconds * 1e9)),
            node=nodes[people],
            group=Words(objects, office.words),
            member_count=sizes[objects],
            messages=counts[objects],
            bytes=counts[objects] * 180,
            own_messages=np.zeros(len(people), dtype=np.int64),
            own_bytes=np.zeros(len(people), dtype=np.int64),
            unacknowledged=np.zeros(len(people), dtype=np.int64),
        )
        name = f"memberships-{office.plan.people}-{number}"
        land(segment_table([rows_of_all], name, START_NS, COUNTER_NAMES), landing, name)
        rows += len(people)
    return rows


def describe(office: Office, options: TraceOptions) -> str:
    """What was asked for, as JSON: enough to make the same again."""
    return json.dumps(
        {
            "events": options.events,
            "seed": options.seed,
            "hours": options.hours,
            "people": office.plan.people,
            "objects": office.plan.objects,
            "memberships": office.memberships,
        },
        sort_keys=True,
    )
