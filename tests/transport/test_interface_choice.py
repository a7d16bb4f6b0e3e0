"""Where an engine is opened on a computer whose interfaces are not made for multicast."""

from __future__ import annotations

from dataclasses import replace

import pytest

from transport.config import EngineConfig
from transport.engine import Engine
from transport.interface_choice import fit_interface, prefers_unicast
from transport.links import Kind, Link

CABLE = Link("eth0", Kind.WIRED, True, True, True, "10.0.0.7")
DEAF_CABLE = replace(CABLE, multicast=False)
TUNNEL = Link("wg0", Kind.VPN, True, True, False, "10.9.0.2")
LOOPBACK = Link("lo", Kind.LOOPBACK, True, True, False, "127.0.0.1")


@pytest.mark.parametrize(
    ("links", "interface"),
    [
        ([LOOPBACK, CABLE, TUNNEL], ""),
        ([LOOPBACK], ""),
        ([], ""),
        ([LOOPBACK, replace(TUNNEL, address="")], ""),
        ([LOOPBACK, TUNNEL], "wg0"),
        ([LOOPBACK, TUNNEL, DEAF_CABLE], "eth0"),
        ([LOOPBACK, TUNNEL, replace(CABLE, running=False)], "wg0"),
    ],
)
def test_without_multicast_the_way_outside_is_taken_by_unicast(
    links: list[Link], interface: str
) -> None:
    config = fit_interface(EngineConfig(), links)
    assert (config.interface, config.multicast) == (interface, not interface)


RADIO = Link("wlan0", Kind.WIRELESS, True, True, True, "10.0.0.9")


@pytest.mark.parametrize(
    ("config", "interface", "prefers"),
    [
        (EngineConfig(), "wlan0", True),
        (EngineConfig(), "eth0", False),
        (EngineConfig(), "gone0", False),
        (EngineConfig(prefers_unicast=False), "wlan0", False),
        (EngineConfig(prefers_unicast=True), "eth0", True),
    ],
)
def test_on_a_radio_unicast_is_preferred_unless_somebody_has_said(
    config: EngineConfig, interface: str, prefers: bool
) -> None:
    assert prefers_unicast(config, interface, [LOOPBACK, CABLE, RADIO]) is prefers


def test_engine_looks_at_its_line_when_it_is_opened_and_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = Link("lo", Kind.WIRELESS, True, True, True, "127.0.0.1")
    monkeypatch.setattr("transport.engine.list_links", lambda: [here])
    engine = Engine.open(EngineConfig(interface="lo"))
    try:
        assert engine.prefers_unicast
        monkeypatch.setattr("transport.engine.list_links", lambda: [replace(here, kind=Kind.WIRED)])
        engine.move()
        assert not engine.prefers_unicast
    finally:
        engine.destroy()


@pytest.mark.parametrize("wish", [EngineConfig(interface="lo"), EngineConfig(ipv6=True)])
def test_what_somebody_has_chosen_stays(wish: EngineConfig) -> None:
    assert fit_interface(wish, [LOOPBACK, TUNNEL]) is wish
