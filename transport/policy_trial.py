"""Tries a region policy: one day of an office, played in the simulator, and what it has cost.

The same trace can be played under any policy, so that two of them are compared by what the engines
themselves counted. With a folder every node keeps an event log there, from which the pipeline can
make the plan for the next trial:

    python -m transport.policy_trial --logs logs
    live-objects pipeline collect logs/* --landing landing
    live-objects pipeline run landing --store store --plan plan.txt --horizon 36500
    python -m transport.policy_trial --plan plan.txt
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from transport.binding import counter_names
from transport.config import EngineConfig, Tuning
from transport.engine_logger import EngineLogger
from transport.event_log import EventLog
from transport.group import Group
from transport.interfaces import Delivery
from transport.policies import Policy
from transport.simulation import Link, SimulatedEngine, Simulation, Timer, all_admitted

KEY = b"k" * 32
SETTLE_S = 5.0
_STAMP_BYTES = 8


class Step(NamedTuple):
    """Something that a person does, that many seconds after the beginning."""

    at_s: float
    node: int
    action: Literal["open", "close", "send"]
    group: int
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """What is played; `groups` are ids."""

    nodes: int
    groups: list[bytes]
    steps: list[Step]


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What it came to. A datagram to many counts once; `moves` are regions that nodes installed."""

    datagrams: int
    bytes: int
    sent: int
    delivered: int
    unwanted: int
    repairs: int
    moves: int


def office_trace(
    seed: int,
    *,
    nodes: int = 40,
    groups: int = 60,
    department: int = 20,
    team: int = 5,
    absences: float = 0.05,
    seconds: float = 60.0,
    messages: int = 1500,
) -> Trace:
    """Objects of teams, departments and of all; people open most of theirs, some come and go."""
    source = random.Random(seed)  # noqa: S311 - a trace is to be repeatable, not secret
    ids = [hashlib.blake2b(b"%d %d" % (seed, g), digest_size=16).digest() for g in range(groups)]
    members: list[list[int]] = []
    for group in range(groups):
        unit = nodes if group < groups // 10 else department if group < groups // 3 else team
        first = source.randrange(max(1, nodes // unit)) * unit
        everyone = range(first, min(first + unit, nodes))
        members.append([n for n in everyone if source.random() >= absences] or [first])
    steps = [
        Step(source.uniform(0, 2), node, "open", group)
        for group, listed in enumerate(members)
        for node in listed
    ]
    # A tenth of what is open is closed for a while: people go on to something else, and come back.
    for group, listed in enumerate(members):
        for node in listed:
            if source.random() < 0.1:
                away_s = source.uniform(5, seconds * 0.6)
                steps.append(Step(away_s, node, "close", group))
                steps.append(Step(away_s + seconds * 0.2, node, "open", group))
    weights = [len(listed) / (place + 1) for place, listed in enumerate(members)]
    for group in source.choices(range(groups), weights, k=messages):
        sender = source.choice(members[group])
        steps.append(Step(source.uniform(4, seconds), sender, "send", group, 200))
    return Trace(nodes, ids, sorted(steps))


def play(
    trace: Trace,
    policy: Policy,
    *,
    plan: str | None = None,
    seed: int = 1,
    loss: float = 0.02,
    logs: Path | None = None,
) -> TrialResult:
    """Plays the trace on simulated nodes under the policy."""
    with Simulation(seed=seed, link=Link(delay_s=0.0005, jitter_s=0.0003, loss=loss)) as simulation:
        return _Player(simulation, trace, policy, plan, logs).run()


class _Player:
    """One run: the nodes, what each has joined, and what they log."""

    def __init__(
        self,
        simulation: Simulation,
        trace: Trace,
        policy: Policy,
        plan: str | None,
        logs: Path | None,
    ) -> None:
        self._simulation = simulation
        self._trace = trace
        config = EngineConfig(tuning=Tuning(policy=policy))
        self._nodes = simulation.add_nodes(trace.nodes, config)
        if plan is not None:
            # Whoever hosts the service has it.
            for node in self._nodes:
                node.set_plan(plan)
        self._joined: dict[tuple[int, int], Group] = {}
        self._sent = self._delivered = 0
        self._loggers = {
            node.index: self._logger(node, logs) for node in self._nodes if logs is not None
        }

    def run(self) -> TrialResult:
        assert self._simulation.run_until(all_admitted(self._nodes), limit_s=60)
        for step in self._trace.steps:
            self._simulation.call_later(step.at_s, self._doing(step))
        last_s = self._trace.steps[-1].at_s if self._trace.steps else 0.0
        self._simulation.run_for(last_s + SETTLE_S)
        for logger in self._loggers.values():
            logger.close()
        totals: dict[str, int] = {}
        for node in self._nodes:
            for name, value in node.counters().items():
                totals[name] = totals.get(name, 0) + value
        traffic = self._simulation.traffic()
        repairs = ("repairs_sent", "repairs_pushed", "repairs_multicast")
        return TrialResult(
            datagrams=traffic.datagrams,
            bytes=traffic.bytes,
            sent=self._sent,
            delivered=self._delivered,
            unwanted=totals["messages_not_joined"],
            repairs=sum(totals[name] for name in repairs),
            moves=totals["regions_installed"],
        )

    def _doing(self, step: Step) -> Callable[[], None]:
        return lambda: self._do(step)

    def _do(self, step: Step) -> None:
        place = (step.node, step.group)
        group = self._joined.get(place)
        if step.action == "open" and group is None:
            joined = self._nodes[step.node].join(self._trace.groups[step.group], KEY)
            joined.on_deliveries = self._receiving(step.node, joined)
            self._joined[place] = joined
        elif step.action == "close" and group is not None:
            self._nodes[step.node].leave(self._joined.pop(place))
        elif step.action == "send" and group is not None:
            stamp_ns = round(self._simulation.time() * 1e9)
            group.send(stamp_ns.to_bytes(_STAMP_BYTES, "little").ljust(step.bytes, b"."))
            self._sent += 1

    def _receiving(self, node: int, group: Group) -> Callable[[Sequence[Delivery]], None]:
        logger = self._loggers.get(node)

        def receive(deliveries: Sequence[Delivery]) -> None:
            self._delivered += len(deliveries)
            if logger is None:
                return
            for delivery in deliveries:
                sent_ns = int.from_bytes(delivery.data[:_STAMP_BYTES], "little")
                latency_s = self._simulation.time() - sent_ns / 1e9
                logger.delivered(group, delivery.sender, len(delivery.data), latency_s)

        return receive

    def _logger(self, node: SimulatedEngine, logs: Path | None) -> EngineLogger:
        assert logs is not None
        simulation = self._simulation

        def call_at(deadline_s: float, callback: Callable[[], None]) -> Timer:
            return simulation.call_later(deadline_s - simulation.time(), callback)

        events = EventLog(
            logs / f"node-{node.index}",
            program="trial",
            scope_label="trial",
            counter_names=counter_names(),
            wall_ns=lambda: 1_790_000_000_000_000_000 + round(simulation.time() * 1e9),
            clock=simulation.time,
        )
        return EngineLogger(node, events, call_at, simulation.time)


def main(arguments: Sequence[str]) -> None:
    """Plays one trace, exactly or by a plan, and prints what it came to as JSON."""
    parser = argparse.ArgumentParser(prog="python -m transport.policy_trial")
    parser.add_argument("--plan", type=Path, help="a plan of regions; without one, exact regions")
    parser.add_argument("--logs", type=Path, help="a folder for event logs")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=200.0, help="messages a second, of all")
    given = parser.parse_args(arguments)
    trace = office_trace(
        1, absences=0.02, seconds=given.seconds, messages=round(given.rate * given.seconds)
    )
    plan = None if given.plan is None else given.plan.read_text(encoding="ascii")
    policy = Policy["EXACT" if plan is None else "PLAN"]
    result = play(trace, policy, plan=plan, logs=given.logs)
    sys.stdout.write(json.dumps(asdict(result)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
