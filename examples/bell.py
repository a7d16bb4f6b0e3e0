"""A live object of your own: a bell that rings on every desk, and five replicas of it."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

from liveobj.declare import Dual, endpoint_type, incoming, live_object, outgoing
from liveobj.host import Host, Person
from liveobj.objects.group_objects import GroupProxy, new_group_object
from liveobj.runtime import Runtime
from transport.simulation import Simulation, all_admitted

BELL = "example.org:bell"


@endpoint_type("example.org:bell-endpoint", provides="reliable, fifo")
class BellEndpoint:
    """A bell that everybody hears."""

    @incoming
    def ring(self, times: int = 1) -> None:
        """Rings on every desk."""

    @outgoing
    def rang(self, who: int, times: int) -> None:
        """Somebody has rung."""


@live_object(BELL, title="Bell")
class Bell(GroupProxy):
    """Sends each ring to the group, and reports each ring that arrives."""

    bell: BellEndpoint

    def on_bell_ring(self, times: int = 1) -> None:
        self._channel.send(bytes([min(times, 255)]))

    def group_message(self, sender: int, message: bytes) -> None:
        self.bell.rang(sender, message[0])


class Desk:
    """What is connected to one replica: it counts the rings."""

    def __init__(self) -> None:
        self.rings = 0

    def rang(self, who: int, times: int) -> None:
        self.rings += times


def run(folder: Path, desks: int = 5, seed: int = 1) -> list[int]:
    """The first desk rings three times; returns how many rings each desk has heard."""
    randomness = random.Random(seed)
    with Simulation(seed) as simulation:
        engines = simulation.add_nodes(desks)
        assert simulation.run_until(all_admitted(engines))
        reference = new_group_object(BELL, "Tea", randomness.randbytes)
        listeners = [Desk() for _ in engines]
        ends = []
        for number, engine in enumerate(engines):
            person = Person(f"desk {number}")
            host = Host(engine, folder / str(number), person, simulation, randomness.randbytes)
            runtime = Runtime(host)
            end = runtime.new_endpoint(Dual[BellEndpoint], listeners[number])
            runtime.connect(end.external, runtime.dereference(reference).endpoint("bell"))
            ends.append(end)
        simulation.run_for(5)
        ends[0].send("ring", {"times": 3})
        assert simulation.run_until(lambda: all(desk.rings == 3 for desk in listeners))
    return [desk.rings for desk in listeners]


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print("rings heard:", *run(Path(place)))
