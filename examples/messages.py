"""Sends a hundred messages over a link that loses every fifth packet."""

from __future__ import annotations

from transport.simulation import Simulation

GROUP_ID = b"sixteen bytes id"
GROUP_KEY = b"k" * 32
MESSAGES = 100


def run(loss: float = 0.2, seed: int = 1) -> list[bytes]:
    """Returns what Bob received, in the order in which the engine delivered it."""
    received: list[bytes] = []
    with Simulation(seed) as simulation:
        alice, bob = (node.join(GROUP_ID, GROUP_KEY) for node in simulation.add_nodes(2))
        assert simulation.run_until(lambda: bob.view is not None and len(bob.view.members) == 2)
        bob.on_deliveries = lambda batch: received.extend(bytes(data) for _, data in batch)
        simulation.set_link(loss=loss)
        for number in range(MESSAGES):
            alice.send(b"message %d" % number)
        assert simulation.run_until(lambda: len(received) == MESSAGES)
    return received


if __name__ == "__main__":
    messages = run()
    print(f"{len(messages)} messages, the last is {messages[-1]!r}")
