"""How much is generated, and for which time."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.errors import PipelineProblem

EVENTS_MIN = 100
EVENTS_MAX = 10_000_000_000
CHUNK_EVENTS = 500_000
START_NS = 1_794_470_400_000_000_000  # 2026-11-12, 08:00 UTC


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """How much is generated. `hours` is the length of the trace; faults are in every one."""

    events: int
    seed: int = 1
    hours: float = 8.0
    start_ns: int = START_NS
    chunk_events: int = CHUNK_EVENTS

    def __post_init__(self) -> None:
        if not EVENTS_MIN <= self.events <= EVENTS_MAX:
            raise PipelineProblem(f"From {EVENTS_MIN} to {EVENTS_MAX} events can be generated.")
        if not 0.05 <= self.hours <= 24 * 31:
            raise PipelineProblem("A trace is 0.05 to 744 hours long.")
