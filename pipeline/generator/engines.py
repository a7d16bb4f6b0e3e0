"""What the engines of an office would have logged: counters and regions every ten seconds, views.

Faults are part of every trace, at known places, so that what looks for them can be tried: a storm
of repairs behind a burst of losses, a rate that swings because receivers do not keep up, and a
region that is made anew again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.generator.office import Office
from pipeline.generator.options import TraceOptions
from pipeline.generator.table import Part, Words, part

SAMPLE_NS = 10_000_000_000
VIEW_MEMBERS_MAX = 64

COUNTER_NAMES = (
    *("datagrams_received", "bytes_received", "datagrams_sent", "bytes_sent"),
    *("data_received", "data_duplicate", "data_receive_full", "dropped_no_buffer"),
    *("messages_sent", "messages_delivered", "messages_not_joined"),
    *("packets_sent", "packets_lost", "pulls_sent", "repairs_sent", "repairs_multicast"),
    *("repairs_received", "tokens_launched", "tokens_passed", "rate_decreases", "window_full"),
    *("views_installed", "regions_installed", "regions_dissolved", "pool_bytes_now"),
)
_AT = {name: place for place, name in enumerate(COUNTER_NAMES)}
# Where in the trace each fault begins, as a part of its length, and for how many samples it lasts.
STORM_AT, STORM_SAMPLES = 0.35, 6
SWING_AT, SWING_SAMPLES = 0.60, 36
REBUILD_AT, REBUILD_SAMPLES = 0.80, 6


def engine_parts(
    office: Office,
    nodes: NDArray[np.int64],
    options: TraceOptions,
    share: float,
    bounds: NDArray[np.int64],
) -> Iterator[list[Part]]:
    """The rows of each part of the trace, by kind."""
    # Two engines at least; in a trace of few events they log only for a while.
    samples = max(2, min(int(options.hours * 3600e9 // SAMPLE_NS), options.events // 20))
    logged = max(2, min(len(nodes), round(share * options.events / (2 * samples))))
    # Spread over departments, so that every region has somebody who logs.
    chosen = np.linspace(0, len(nodes) - 1, logged).astype(np.int64)
    source = np.random.default_rng([options.seed, 3])
    grown = np.zeros((logged, len(COUNTER_NAMES)), dtype=np.int64)
    regions = chosen // office.plan.department + 1
    for first_ns, last_ns in pairwise(bounds):
        steps = np.arange(-(-int(first_ns) // SAMPLE_NS), -(-int(last_ns) // SAMPLE_NS))
        steps = steps[steps < samples]
        if len(steps) == 0:
            yield [_views(source, office, nodes, options, (int(first_ns), int(last_ns)))]
            continue
        deltas = _deltas(source, regions, steps, samples)
        totals = grown[None, :, :] + np.cumsum(deltas, axis=0)
        totals[:, :, _AT["pool_bytes_now"]] = deltas[:, :, _AT["pool_bytes_now"]]
        grown = totals[-1]
        times = options.start_ns + np.repeat(steps, logged) * SAMPLE_NS
        who = np.tile(chosen, len(steps))
        flat = totals.reshape(-1)
        offsets = np.arange(0, len(flat) + 1, len(COUNTER_NAMES), dtype=np.int32)
        counters = part(
            len(who),
            kind="COUNTERS",
            time_ns=times,
            node=nodes[who],
            monotonic_ns=times - options.start_ns,
            counters=pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat)),
        )
        region = _regions(source, office, nodes, deltas, times, who)
        views = _views(source, office, nodes, options, (int(first_ns), int(last_ns)))
        yield [counters, region, views]


def _deltas(
    source: np.random.Generator,
    regions: NDArray[np.int64],
    steps: NDArray[np.int64],
    samples: int,
) -> NDArray[np.int64]:
    """What every counter grows by in every step, for every node that logs."""
    shape = (len(steps), len(regions))
    out = np.zeros((*shape, len(COUNTER_NAMES)), dtype=np.int64)

    def put(name: str, values: Any) -> None:
        out[:, :, _AT[name]] = values

    data = source.poisson(2000, size=shape)
    lost = source.poisson(4, size=shape)
    repairs = lost.copy()
    full = np.zeros(shape, dtype=np.int64)
    decreases = np.zeros(shape, dtype=np.int64)
    installed = (source.random(shape) < 0.002).astype(np.int64)

    def during(at: float, count: int) -> NDArray[np.int64]:
        first = int(at * samples)
        return steps[(steps >= first) & (steps < first + count)]

    low = regions == regions.min()
    for step in during(STORM_AT, STORM_SAMPLES):
        row = int(step - steps[0])
        lost[row, low] = source.poisson(900, size=low.sum())
        repairs[row, low] = source.poisson(3000, size=low.sum())
    high = regions == regions.max()
    for step in during(SWING_AT, SWING_SAMPLES):
        row = int(step - steps[0])
        up = (step // 3) % 2 == 0
        data[row, high] = (data[row, high] * (2.2 if up else 0.15)).astype(np.int64)
        full[row, high] = 400 if up else 0
        decreases[row, high] = 3 if up else 0
    middle = regions == np.sort(regions)[len(regions) // 2]
    for step in during(REBUILD_AT, REBUILD_SAMPLES):
        row = int(step - steps[0])
        installed[row, middle] = 8
        repairs[row, middle] = source.poisson(2500, size=middle.sum())

    put("datagrams_received", data + repairs)
    put("bytes_received", (data + repairs) * 900)
    put("datagrams_sent", data // 20)
    put("bytes_sent", data // 20 * 900)
    put("data_received", data)
    put("data_receive_full", full)
    put("messages_sent", data // 30)
    put("messages_delivered", data * 3)
    put("packets_sent", data // 40)
    put("packets_lost", lost)
    put("pulls_sent", repairs)
    put("repairs_sent", repairs)
    put("repairs_received", repairs)
    put("tokens_launched", 10)
    put("tokens_passed", 40)
    put("rate_decreases", decreases)
    put("views_installed", installed * 3)
    put("regions_installed", installed)
    put("regions_dissolved", installed)
    put("pool_bytes_now", 4_000_000 + repairs * 3000 + full * 9000)
    return out


def _regions(
    source: np.random.Generator,
    office: Office,
    nodes: NDArray[np.int64],
    deltas: NDArray[np.int64],
    times: NDArray[np.int64],
    who: NDArray[np.int64],
) -> Part:
    count = len(who)
    trouble = deltas[:, :, _AT["repairs_sent"]].reshape(-1) / 500
    token = 12_000_000 * np.exp(0.3 * source.normal(size=count)) * (1 + trouble)
    pending = source.poisson(20 * (1 + trouble))
    region = who // office.plan.department + 1
    return part(
        count,
        kind="REGION",
        time_ns=times,
        node=nodes[who],
        region=region,
        member_count=np.full(count, min(office.plan.department, office.plan.people)),
        alive=np.full(count, min(office.plan.department, office.plan.people)),
        senders=np.full(count, 3),
        ring_levels=np.full(count, 2),
        unacknowledged=pending,
        rate_bytes_per_s=np.full(count, 2_000_000),
        acknowledgement_ns=(token * 1.6 + 50_000_000).astype(np.int64),
        token_round_ns=token.astype(np.int64),
        unicast=np.zeros(count, dtype=bool),
    )


def _views(
    source: np.random.Generator,
    office: Office,
    nodes: NDArray[np.int64],
    options: TraceOptions,
    span: tuple[int, int],
) -> Part:
    share = (span[1] - span[0]) / (options.hours * 3600e9)
    count = max(2, round(options.events * share * 0.002))
    objects = source.integers(0, len(office.ids), size=count)
    members = [nodes[office.members[each][:VIEW_MEMBERS_MAX]].tolist() for each in objects.tolist()]
    times = options.start_ns + source.integers(span[0], max(span[0] + 1, span[1]), size=count)
    return part(
        count,
        kind="VIEW",
        time_ns=times,
        node=np.array([each[0] for each in members]),
        group=Words(objects, office.words),
        view=source.integers(1, 1 << 30, size=count),
        members=pa.array(members, type=pa.list_(pa.int64())),
        member_count=np.array([len(each) for each in members]),
    )
