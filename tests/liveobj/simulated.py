"""An office on the deterministic simulator of the engine: real packets, virtual time, injected
faults.

A failure names its seed, by which it is run again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from liveobj.host import Host, Person
from transport.simulation import Link, SimulatedEngine, Simulation, all_admitted


class SimulatedOffice:
    """Nodes of one simulation, each with a host of its own."""

    def __init__(self, folder: Path, nodes: int, seed: int = 1, link: Link | None = None) -> None:
        self.folder = folder
        self.seed = seed
        self.simulation = Simulation(seed, link)
        self.engines: list[SimulatedEngine] = []
        self.hosts: list[Host] = []
        for _ in range(nodes):
            self.add()
        self.until(all_admitted(self.engines), 30)

    def add(self) -> Host:
        """One more node, which starts now."""
        engine = self.simulation.add_node()
        number = len(self.engines)
        self.engines.append(engine)
        self.hosts.append(self.host(engine, number))
        return self.hosts[-1]

    def host(self, engine: SimulatedEngine, number: int) -> Host:
        return Host(
            network=engine,
            folder=self.folder / f"node{number}",
            person=Person(f"person {number}", "#336699"),
            scheduler=self.simulation,
            random_bytes=random.Random(f"{self.seed} {number} {len(self.hosts)}").randbytes,
        )

    def until(self, predicate: Callable[[], bool], limit_s: float = 60) -> None:
        if not self.simulation.run_until(predicate, limit_s):
            raise AssertionError(
                f"not reached within {limit_s} virtual seconds; replay with seed {self.seed}"
            )

    def close(self) -> None:
        self.simulation.close()
