"""How often tokens go round, on the simulator: what is acknowledged sooner by it, and its price.

Under load tokens follow each other as quickly as they return, whatever the clock says; so the clock
is varied where it rules, at a rate of some messages a second, and once more under load.
"""

from __future__ import annotations

from collections.abc import Iterator

from transport.benches.model import Costs, calibrate
from transport.benches.programs import Effort, run
from transport.benches.record import Record

RECEIVERS = 200
# Milliseconds between rounds; the engine's own is 50.
CLOCKS_MS = (10, 50, 200, 1000)
CALM_RATE = 200
CALM_SPAN_MS, FULL_SPAN_MS = 10_000, 60
PAPERS = "4.25: five tokens a second in place of one: 30 % less pending, less than 1 % more sent"


def measure(effort: Effort) -> Iterator[Record]:
    costs = calibrate(effort)
    for clock_ms in CLOCKS_MS:
        yield _point(effort, costs, clock_ms, CALM_RATE)
    for clock_ms in (CLOCKS_MS[0], CLOCKS_MS[-1]):
        yield _point(effort, costs, clock_ms, 0)


def _point(effort: Effort, costs: Costs, clock_ms: int, rate: int) -> Record:
    receivers = effort.scaled(RECEIVERS, 2)
    span_ms = effort.shortened(CALM_SPAN_MS if rate else FULL_SPAN_MS)
    size = ("--receivers", receivers, "--milliseconds", span_ms, "--token-ms", clock_ms)
    found = run("engine_sim", *size, "--rate", rate, *costs.options())
    load = f"{rate} messages/s" if rate else "full load"
    return Record(
        name="tokens",
        what=f"a round each {clock_ms} ms, {load}",
        receivers=receivers,
        rate=found["rate"],
        rss_mb=found["rss_mb"],
        papers=PAPERS if rate and clock_ms == CLOCKS_MS[-1] else "",
        note=(
            f"acknowledged after {found['ack_ms']:.1f} ms; {found['pending']:.0f} packets pending; "
            f"{found['tokens_per_s']:,.0f} tokens/s in all rings"
        ),
        more={
            "clock_ms": clock_ms,
            "ack_ms": found["ack_ms"],
            "pending": found["pending"],
            "pending_most": found["pending_most"],
            "tokens_per_s": found["tokens_per_s"],
            "token_round_ms": found["token_round_ms"],
        },
    )
