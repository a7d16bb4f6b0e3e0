"""Opening an engine on real sockets: what it runs on, and one clear sentence when it cannot."""

from __future__ import annotations

import gc
import socket

import pytest

from tests.transport.network import GROUP_ID, KEY, loopback, open_descriptors
from transport.config import EngineConfig, Tuning
from transport.engine import Engine
from transport.errors import BadArgument, EnvironmentRefused, NoInterface, PortInUse


def test_busy_port_is_one_clear_sentence() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse) as caught:
            Engine.open(loopback(port=port))
    assert str(port) in str(caught.value)
    assert caught.value.details["port"] == port
    assert isinstance(caught.value, EnvironmentRefused)


def test_missing_interface_is_one_clear_sentence() -> None:
    with pytest.raises(NoInterface) as caught:
        Engine.open(loopback(interface="nosuch0"))
    assert "nosuch0" in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "tuning", [Tuning(ring_size_max=1), Tuning(datagram_bytes_max=100), Tuning(ring_size_max=10**6)]
)
def test_tuning_out_of_bounds_is_refused(tuning: Tuning) -> None:
    with pytest.raises(BadArgument):
        Engine.open(loopback(tuning=tuning))


def test_failed_opening_leaves_nothing_open() -> None:
    before = open_descriptors()
    for _ in range(20):
        with pytest.raises(NoInterface):
            Engine.open(loopback(interface="nosuch0"))
    assert open_descriptors() == before


def test_engine_says_what_it_runs_on() -> None:
    engine = Engine.open(loopback())
    try:
        info = engine.info()
        assert info.loopback
        assert info.interface == "lo"
        assert info.address.text == "127.0.0.1"
        assert info.address.port > 0
        assert info.rendezvous.multicast
        assert engine.regions() == []
        assert "Test" in repr(engine)
    finally:
        engine.destroy()


def test_many_engines_come_and_go_without_a_trace() -> None:
    gc.collect()
    before = open_descriptors()
    for _ in range(10):
        engine = Engine.open(loopback())
        engine.join(GROUP_ID, KEY).send(b"never heard")
        engine.step(0.001)
        engine.destroy()
    assert open_descriptors() == before


def test_default_configuration_is_nearby() -> None:
    assert EngineConfig().scope.name == "Nearby"
