"""Which experiments there are, by name, and how one is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from transport.benches import (
    alarms,
    callbacks,
    crash,
    groups,
    idle,
    latency,
    nodes,
    overload,
    perturbed,
    rates,
    receivers,
    replication,
    simulator,
    small,
    throughput,
    tokens,
)
from transport.benches.programs import BenchProblem, Effort, build
from transport.benches.record import Record

Experiment = Callable[[Effort], Iterator[Record]]

EXPERIMENTS: dict[str, Experiment] = {
    "throughput": throughput.measure,
    "receivers": receivers.measure,
    "groups": groups.measure,
    "latency": latency.measure,
    "nodes": nodes.measure,
    "tokens": tokens.measure,
    "replication": replication.measure,
    "perturbed": perturbed.measure,
    "alarms": alarms.measure,
    "overload": overload.measure,
    "crash": crash.measure,
    "rates": rates.measure,
    "small": small.measure,
    "idle": idle.measure,
    "simulator": simulator.measure,
    "python": callbacks.measure,
}


def run_experiment(name: str, effort: Effort) -> Iterator[Record]:
    """The records of one experiment as they come; a failure is a record with its sentence.

    Whatever goes wrong in one must not lose the figures of the others: also what a program printed
    that is not what was expected of it.
    """
    try:
        build()
        yield from EXPERIMENTS[name](effort)
    except BenchProblem as problem:
        yield Record(name=name, what=name, receivers=0, problem=str(problem))
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as problem:
        sentence = f"{name} went wrong: {type(problem).__name__}: {problem}."
        yield Record(name=name, what=name, receivers=0, problem=sentence)
