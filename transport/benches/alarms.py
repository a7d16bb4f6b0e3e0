"""How late alarms are run under full load, calm, or with a receiver that sleeps or is deaf."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from transport.benches.programs import Effort, engine
from transport.benches.record import Record

RECEIVERS = 2
SECONDS = 6.0
CASES: tuple[tuple[str, tuple[str | int, ...]], ...] = (
    ("calm", ()),
    ("one sleeps 0.5 s every 5 s", ("--sleep", 500, "--every", 5000)),
    ("one drops all for 10 ms every s", ("--deaf", 10, "--every", 1000)),
)
PAPERS = "4.37, 4.38: receivers 12 to 14 ms calm, 130 to 140 troubled; the sender 0.7 and 1.3 s"


def measure(effort: Effort) -> Iterator[Record]:
    span = Effort(max(0.1, SECONDS * effort.share), 1, effort.share)
    for name, options in CASES:
        (run,) = engine(span, "--receivers", RECEIVERS, "--alarms", *options)
        receivers, senders = zip(*run["alarm_delays_ms"] or [[0.0, 0.0]], strict=True)
        yield Record(
            name="alarms",
            what=name,
            receivers=RECEIVERS,
            rate=run["rate"],
            loss=run["loss"],
            rss_mb=run["rss_mb"],
            papers=PAPERS if name == CASES[-1][0] else "",
            note=(
                f"latest alarm of a second: receivers {median(receivers):.1f} ms in the middle, "
                f"{max(receivers):.1f} at most; sender {median(senders):.1f} and {max(senders):.1f}"
            ),
            more={"receivers_ms": list(receivers), "sender_ms": list(senders)},
        )
