"""Events of an office's working day, as columns; drawn at once, not one by one, from a seed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.generator.engines import COUNTER_NAMES, engine_parts
from pipeline.generator.office import Office, node_of
from pipeline.generator.options import TraceOptions
from pipeline.generator.table import Part, Words, part, segment_table

# Parts of all events; what is left is deliveries.
ENGINE_SHARE = 0.08
GROUP_SHARE = 0.02
PERSON_SHARE = 0.02
# How busy the hours of a day are, from eight o'clock on.
HOURS = (0.6, 1.0, 1.2, 1.1, 0.4, 0.8, 1.2, 1.1, 0.9, 0.4)


def trace_tables(office: Office, options: TraceOptions) -> Iterator[Any]:
    """Tables of events, each as one segment: ordered by time, numbered, with a head."""
    chunks = max(1, round(options.events / options.chunk_events))
    bounds = np.linspace(0, options.hours * 3600e9, chunks + 1).astype(np.int64)
    nodes = np.array([node_of(person) for person in range(office.plan.people)], dtype=np.int64)
    engines = engine_parts(office, nodes, options, ENGINE_SHARE, bounds)
    per_chunk = np.diff(np.linspace(0, options.events, chunks + 1).round()).astype(int)
    for number in range(chunks):
        source = np.random.default_rng([options.seed, 2, number])
        span = (options.start_ns + int(bounds[number]), options.start_ns + int(bounds[number + 1]))
        engine = next(engines)
        wanted = int(per_chunk[number]) - sum(each.count for each in engine) - 1
        groups, people = round(wanted * GROUP_SHARE), round(wanted * PERSON_SHARE)
        parts = [
            *engine,
            _deliveries(source, office, nodes, max(0, wanted - groups - people), span),
            _group_samples(source, office, nodes, max(0, groups), span, options),
            _people(source, office, nodes, max(0, people), span),
        ]
        yield segment_table(parts, f"{options.seed}-{number}", span[0], COUNTER_NAMES)


def _times(source: np.random.Generator, count: int, span: tuple[int, int]) -> NDArray[np.int64]:
    """Times in the span, more of them in busy hours."""
    drawn = source.integers(span[0], span[1], size=2 * count + 16)
    hour = (drawn // 3_600_000_000_000) % 24 - 8
    busy = np.array([*HOURS, *[0.1] * 14])[hour % 24]
    kept = drawn[source.random(len(drawn)) * max(HOURS) < busy][:count]
    missing = count - len(kept)
    return np.concatenate([kept, source.integers(span[0], span[1], size=missing)])


def _pick(
    source: np.random.Generator, office: Office, count: int, weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Objects by weight; for each one of its members, and another, the first ones being keener."""
    sizes, starts, flat = office.sizes, office.starts, office.flat
    objects = source.choice(len(sizes), size=count, p=weights / weights.sum())
    uniform = (source.random(count) * sizes[objects]).astype(np.int64)
    keen = (source.random(count) ** 3 * sizes[objects]).astype(np.int64)
    return objects, flat[starts[objects] + uniform], flat[starts[objects] + keen]


def _deliveries(
    source: np.random.Generator,
    office: Office,
    nodes: NDArray[np.int64],
    count: int,
    span: tuple[int, int],
) -> Part:
    objects, receivers, senders = _pick(source, office, count, office.rates * office.sizes)
    spread = np.exp(source.normal(size=count))
    slow = np.where(source.random(count) < 0.01, 20.0, 1.0)
    return part(
        count,
        kind="DELIVERY",
        time_ns=_times(source, count, span),
        node=nodes[receivers],
        group=Words(objects, office.words),
        sender=nodes[senders],
        bytes=(120 * np.exp(0.9 * source.normal(size=count))).astype(np.int64) + 16,
        latency_ns=(700_000 * spread * slow).astype(np.int64),
    )


def _group_samples(
    source: np.random.Generator,
    office: Office,
    nodes: NDArray[np.int64],
    count: int,
    span: tuple[int, int],
    options: TraceOptions,
) -> Part:
    objects, people, _ = _pick(source, office, count, np.sqrt(office.rates))
    times = _times(source, count, span)
    # Sums only ever grow: what an object's rate comes to by that time.
    passed = (times - options.start_ns) / 1e9
    messages = (office.rates[objects] * 200 * passed).astype(np.int64)
    sizes = office.sizes
    return part(
        count,
        kind="GROUP",
        time_ns=times,
        node=nodes[people],
        group=Words(objects, office.words),
        member_count=sizes[objects],
        messages=messages,
        bytes=messages * 180,
        own_messages=messages // np.maximum(1, sizes[objects]),
        own_bytes=messages // np.maximum(1, sizes[objects]) * 180,
        unacknowledged=source.integers(0, 4, size=count),
    )


def _people(
    source: np.random.Generator,
    office: Office,
    nodes: NDArray[np.int64],
    count: int,
    span: tuple[int, int],
) -> Part:
    """What people do, as an application tells it when its user has agreed to that."""
    objects, people, _ = _pick(source, office, count, np.sqrt(office.rates))
    names = pa.array(["opened", "edited", "closed"])
    done = np.array([0, 1, 1, 1, 2])[source.integers(0, 5, size=count)]
    details = [
        json.dumps({"group": office.ids[group], "person": f"p{person:06d}"}, sort_keys=True)
        for group, person in zip(objects.tolist(), people.tolist(), strict=True)
    ]
    return part(
        count,
        kind="APPLICATION",
        time_ns=_times(source, count, span),
        node=nodes[people],
        name=Words(done, names),
        details=pa.array(details, type=pa.string()),
    )
