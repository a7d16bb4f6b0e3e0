"""Objects without a view: what they are, how they are, and what an external one turns out to be."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from liveobj.objects.catalogue import MAKERS
from liveobj.references import Primitive
from liveobj.runtime import CannotDereference, ProxyState, Runtime
from liveobj.showing import Showing
from tests.liveobj.simulated import SimulatedOffice

RANDOM = random.Random(5).randbytes


def test_a_sensor_runs_and_says_what_it_has(tmp_path: Path) -> None:
    office = SimulatedOffice(tmp_path, 1)
    showing = Showing(Runtime(office.hosts[0]), MAKERS["sensor"]("Heat", RANDOM))
    assert showing.title == "Heat"
    assert showing.state is ProxyState.RUNNING
    assert list(showing.type.endpoints) == ["sensor"]
    assert not showing.endpoint_connected("sensor")
    assert showing.found is None
    seen: list[ProxyState] = []
    showing.observe(lambda: seen.append(showing.state))
    showing.close()
    showing.close()
    assert seen[-1] is ProxyState.DISPOSED
    office.close()


def test_what_is_not_known_is_refused_before_anything_runs(tmp_path: Path) -> None:
    office = SimulatedOffice(tmp_path, 1)
    with pytest.raises(CannotDereference):
        Showing(Runtime(office.hosts[0]), Primitive("example.com:nothing"))
    office.close()
