"""What a datagram costs a simulated node: measured on sockets, and used by the simulator.

The model: each datagram that a node receives or sends costs it so many nanoseconds, links take 50
to 51 microseconds, and nothing is lost. Both costs are the processor time of a message on real
sockets without offload; a run of the model with one receiver beside one on sockets says how good
the model is.
"""

from __future__ import annotations

from dataclasses import dataclass

from transport.benches.programs import Effort, engine, run
from transport.benches.record import middle

WINDOW_BYTES = 4 << 20
# As over a network; within one machine datagrams may be longer.
PACKET_BYTES = 1432
# Virtual time of the run that is compared with sockets.
CALIBRATION_MS = 400


@dataclass(frozen=True, slots=True)
class Costs:
    """Nanoseconds that a datagram takes of a node, and how the model compares with sockets."""

    receive_ns: int
    send_ns: int
    model: float
    sockets: float

    def options(self) -> list[str | int]:
        costs: list[str | int] = ["--receive-ns", self.receive_ns, "--send-ns", self.send_ns]
        return [*costs, "--window", WINDOW_BYTES]

    def __str__(self) -> str:
        return (
            f"{self.send_ns} ns to send, {self.receive_ns} ns to receive; with one receiver the "
            f"model sends {self.model:,.0f}/s, sockets {self.sockets:,.0f}/s"
        )


def calibrate(effort: Effort) -> Costs:
    """From real runs with one receiver, so that each process has a core; a message a datagram."""
    runs = engine(effort, "--receivers", 1, "--no-offload", "--packet", PACKET_BYTES)
    receive_ns = max(100, round(middle(runs, "receiver_us") * 1000))
    send_ns = max(100, round(middle(runs, "sender_us") * 1000))
    costs = Costs(receive_ns, send_ns, 0.0, middle(runs, "rate"))
    found = run("engine_sim", "--receivers", 1, "--milliseconds", CALIBRATION_MS, *costs.options())
    return Costs(receive_ns, send_ns, found["rate"], costs.sockets)
