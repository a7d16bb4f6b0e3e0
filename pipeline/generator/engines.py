"""What the engines of an office would have logged: counters and regions every ten seconds, views.

Faults are part of every trace, at known places, so that what looks for them can be tried: a storm
of repairs behind a burst of losses, a rate that swings because receivers do not keep up, and a
region that is made anew again and again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(slots=True)
class _Traffic:
    """What passes at every node that logs (second index) in every step (first index)."""

    data: NDArray[np.int64]
    lost: NDArray[np.int64]
    repairs: NDArray[np.int64]
    full: NDArray[np.int64]
    decreases: NDArray[np.int64]
    installed: NDArray[np.int64]


def _deltas(
    source: np.random.Generator,
    regions: NDArray[np.int64],
    steps: NDArray[np.int64],
    samples: int,
) -> NDArray[np.int64]:
    """What every counter grows by in every step, for every node that logs."""
    traffic = _calm(source, (len(steps), len(regions)))

    def during(at: float, count: int) -> list[tuple[int, int]]:
        """Each step of that time, and its row."""
        first = int(at * samples)
        chosen = steps[(steps >= first) & (steps < first + count)]
        return [(int(step), int(step - steps[0])) for step in chosen]

    low = regions == regions.min()
    for _, row in during(STORM_AT, STORM_SAMPLES):
        _storm(source, traffic, row, low)
    high = regions == regions.max()
    for step, row in during(SWING_AT, SWING_SAMPLES):
        _swing(traffic, row, high, up=(step // 3) % 2 == 0)
    middle = regions == np.sort(regions)[len(regions) // 2]
    for _, row in during(REBUILD_AT, REBUILD_SAMPLES):
        _rebuild(source, traffic, row, middle)
    return _counted(traffic)


def _calm(source: np.random.Generator, shape: tuple[int, int]) -> _Traffic:
    data = source.poisson(2000, size=shape)
    lost = source.poisson(4, size=shape)
    return _Traffic(
        data=data,
        lost=lost,
        repairs=lost.copy(),
        full=np.zeros(shape, dtype=np.int64),
        decreases=np.zeros(shape, dtype=np.int64),
        installed=(source.random(shape) < 0.002).astype(np.int64),
    )


def _storm(
    source: np.random.Generator, traffic: _Traffic, row: int, where: NDArray[np.bool_]
) -> None:
    traffic.lost[row, where] = source.poisson(900, size=where.sum())
    traffic.repairs[row, where] = source.poisson(3000, size=where.sum())


def _swing(traffic: _Traffic, row: int, where: NDArray[np.bool_], *, up: bool) -> None:
    flow = traffic.data[row, where] * (2.2 if up else 0.15)
    traffic.data[row, where] = flow.astype(np.int64)
    traffic.full[row, where] = 400 if up else 0
    traffic.decreases[row, where] = 3 if up else 0


def _rebuild(
    source: np.random.Generator, traffic: _Traffic, row: int, where: NDArray[np.bool_]
) -> None:
    traffic.installed[row, where] = 8
    traffic.repairs[row, where] = source.poisson(2500, size=where.sum())


def _counted(traffic: _Traffic) -> NDArray[np.int64]:
    """The same as the engine's counters, in their order."""
    out = np.zeros((*traffic.data.shape, len(COUNTER_NAMES)), dtype=np.int64)

    def put(name: str, values: Any) -> None:
        out[:, :, _AT[name]] = values

    put("datagrams_received", traffic.data + traffic.repairs)
    put("bytes_received", (traffic.data + traffic.repairs) * 900)
    put("datagrams_sent", traffic.data // 20)
    put("bytes_sent", traffic.data // 20 * 900)
    put("data_received", traffic.data)
    put("data_receive_full", traffic.full)
    put("messages_sent", traffic.data // 30)
    put("messages_delivered", traffic.data * 3)
    put("packets_sent", traffic.data // 40)
    put("packets_lost", traffic.lost)
    put("pulls_sent", traffic.repairs)
    put("repairs_sent", traffic.repairs)
    put("repairs_received", traffic.repairs)
    put("tokens_launched", 10)
    put("tokens_passed", 40)
    put("rate_decreases", traffic.decreases)
    put("views_installed", traffic.installed * 3)
    put("regions_installed", traffic.installed)
    put("regions_dissolved", traffic.installed)
    put("pool_bytes_now", 4_000_000 + traffic.repairs * 3000 + traffic.full * 9000)
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
