"""The engine inside the application, on this machine's own network."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.engine_watcher import EngineWatcher
from app.errors import StartProblem
from app.network import OfficeNetwork, answer_connect
from app.network_profile import NetworkProfile
from app.network_wishes import NetworkWishes
from app.paths import find_paths
from transport.config import EngineConfig, Peer
from transport.engine import Engine
from transport.events import Health
from transport.loop import EngineJoin
from transport.scopes import Scope
from widgets.state_words import NetworkWords


@pytest.fixture
def network(qapp: Any) -> Iterator[OfficeNetwork]:
    network = OfficeNetwork(NetworkWishes("127.0.0.1"))
    yield network
    network.close()


def test_it_finds_its_place_and_says_so(network: OfficeNetwork, qtbot: Any) -> None:
    told: list[NetworkWords] = []
    network.on_words = told.append
    assert network.words.short.startswith("This PC only: ")
    network.start()
    qtbot.waitUntil(lambda: any("multicast ok" in words.short for words in told), timeout=30000)
    assert "127.0.0.1" in network.words.sentence


def test_it_says_when_multicast_does_not_reach_everybody(
    network: OfficeNetwork, qtbot: Any
) -> None:
    told: list[NetworkWords] = []
    network.on_words = told.append
    network.start()
    group_id = os.urandom(16)
    group = network.engine.join(group_id, bytes(32))
    qtbot.waitUntil(lambda: group.view is not None, timeout=30000)
    here = network.engine.info().address
    other = Engine.open(
        EngineConfig(
            scope=network.scope,
            interface="127.0.0.1",
            multicast=False,
            known_peers=(Peer(here.text, here.port),),
        )
    )
    join = EngineJoin(other, EngineWatcher())
    other.join(group_id, bytes(32))
    qtbot.waitUntil(lambda: "partly by unicast" in network.words.short, timeout=30000)
    assert "one by one" in told[-1].sentence
    network.engine.prefer_unicast(True)
    assert "by unicast on Wi-Fi" in network.words.short
    network.engine.prefer_unicast(False)
    join.close()
    other.close_blocking()
    qtbot.waitUntil(lambda: "multicast ok" in network.words.short, timeout=30000)
    assert told[-1] == network.words


def test_typed_address_is_asked_and_remembered(qapp: Any, qtbot: Any, tmp_path: Path) -> None:
    invitation = Scope.new_private("Office", os.urandom)
    profiles = [NetworkProfile.of(find_paths({}, tmp_path / name)) for name in ("ada", "jun")]
    networks = []
    for profile in profiles:
        profile.join(invitation)
        # Deaf to each other's multicast, as in two segments of a network.
        networks.append(OfficeNetwork(NetworkWishes("127.0.0.1"), profile))
        networks[-1].engine.destroy()
        config = replace(networks[-1].engine.config, multicast=False)
        networks[-1].engine = Engine.open(config)
        networks[-1].start()
    ada, jun = networks
    there = ada.engine.info().address
    qtbot.waitUntil(lambda: ada.settled, timeout=30000)
    assert "error" in answer_connect(jun, {"peers": [["somewhere", 80]]})
    assert "error" in answer_connect(jun, {"peers": ["10.0.0.7"]})
    assert answer_connect(jun, {"peers": [[there.text, there.port]]}) == {}
    # Each has begun as a host of its own; one of the two stays it.
    both = {Health.HOST, Health.MEMBER}
    qtbot.waitUntil(lambda: {ada.engine.health, jun.engine.health} == both, timeout=30000)
    assert profiles[1].book().peers(invitation) == (Peer(there.text, there.port),)
    for network in networks:
        network.close()


def test_a_busy_port_is_one_sentence(qapp: Any) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("", 0))
        port = holder.getsockname()[1]
        with pytest.raises(StartProblem, match=rf"^UDP port {port} is in use .* with --port\.$"):
            OfficeNetwork(NetworkWishes("127.0.0.1", port))


@pytest.mark.parametrize("interface", ["192.0.2.1", "nosuch0", "x" * 80])
def test_a_strange_interface_is_one_sentence(qapp: Any, interface: str) -> None:
    with pytest.raises(StartProblem, match="interface"):
        OfficeNetwork(NetworkWishes(interface))


def test_pseudonym_is_drawn_once_and_missing_where_it_cannot_be_kept(tmp_path: Path) -> None:
    profile = NetworkProfile.of(find_paths({}, tmp_path / "one"))
    first = profile.pseudonym()
    assert len(first) == 16
    assert profile.pseudonym() == first
    (profile.events / "person").write_text("damaged")
    assert profile.pseudonym() == ""
    (tmp_path / "two").mkdir()
    other = NetworkProfile.of(find_paths({}, tmp_path / "two"))
    other.events.parent.mkdir(parents=True, exist_ok=True)
    other.events.write_text("in the way")
    assert other.pseudonym() == ""
