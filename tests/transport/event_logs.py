"""What tests of event logs share: clocks moved by hand, a log, its segments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transport.event_log import EventLog
from transport.event_log_schema import Damage, Record, Row, frame, read_segment


class Times:
    """Both clocks, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def clock(self) -> float:
        return self.now_s

    def wall_ns(self) -> int:
        return 1_800_000_000_000_000_000 + int(self.now_s * 1e9)


def make_log(folder: Path, times: Times, **changes: Any) -> EventLog:
    settings = {
        "program": "test",
        "scope_label": "ab" * 8,
        "counter_names": ("one", "two"),
        "wall_ns": times.wall_ns,
        "clock": times.clock,
        **changes,
    }
    return EventLog(folder, **settings)


def closed(folder: Path) -> list[Path]:
    return sorted((folder / "closed").glob("*.events"))


def opened(folder: Path) -> list[Path]:
    return sorted((folder / "open").glob("*.events"))


def rows(path: Path, damage: Damage | None = None) -> list[Row]:
    return list(read_segment(path.read_bytes(), damage))


def sample_segment(records: int = 50) -> bytes:
    data = frame(Record.SEGMENT, 1, (1, "test", "label", 0, ["one"]))
    for number in range(records):
        data += frame(Record.VIEW, number, (number, bytes(16), number, [number, number + 1]))
    return data
