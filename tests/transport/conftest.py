"""Two members of a simulated network, for whoever tests what passes between them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.transport.network import Members, Recorder, simulated_members
from transport.simulation import Simulation


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    with Simulation(seed=1) as simulation:
        yield simulation


@pytest.fixture
def members(simulation: Simulation) -> Members:
    return simulated_members(simulation, 2)


@pytest.fixture
def alice(members: Members) -> Recorder:
    return members[1][0]


@pytest.fixture
def bob(members: Members) -> Recorder:
    return members[1][1]
