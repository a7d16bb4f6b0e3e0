"""Choosing the network interface: what one reads, what it does, and at the next start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.interface_actions import InterfaceActions, interface_words
from app.network import OfficeNetwork
from app.network_wishes import NetworkWishes
from app.settings import SettingsKeeper, load_settings
from transport.links import Kind, Link
from widgets.office_network_page import OfficeNetworkPage
from widgets.theme import Theme

LOOPBACK = Link("lo", Kind.LOOPBACK, True, True, False, "127.0.0.1")
GONE = Link("usb0", Kind.WIRED, True, True, True, "10.0.0.7")
OFF = replace(GONE, name="wlan0", kind=Kind.WIRELESS, up=False)


@pytest.fixture
def network(qapp: Any) -> Iterator[OfficeNetwork]:
    network = OfficeNetwork(NetworkWishes("127.0.0.1"))
    network.start()
    yield network
    network.close()


def test_the_chosen_interface_is_used_at_once_and_kept(
    network: OfficeNetwork, qapp: Any, qtbot: Any, tmp_path: Path
) -> None:
    settings = SettingsKeeper(tmp_path / "settings.json")
    page = OfficeNetworkPage(Theme(qapp))
    qtbot.addWidget(page)
    InterfaceActions(network, settings, lambda: [LOOPBACK, GONE, OFF]).show_on(page)
    words = [page.interfaces.itemText(at) for at in range(page.interfaces.count())]
    assert words == [
        "The interface that suits best",
        "lo: this PC only, 127.0.0.1",
        "usb0: cable, 10.0.0.7",
    ]
    port = network.engine.info().address.port
    page.interfaces.activated.emit(1)
    assert network.engine.info().address.port != port
    assert page.said == f"This PC is at {network.place} now."
    assert page.interfaces.currentIndex() == 1
    page.interfaces.activated.emit(2)  # It was pulled out meanwhile.
    assert "usb0" in page.said
    assert (page.interfaces.currentIndex(), network.engine.wanted.interface) == (1, "lo")
    assert load_settings(tmp_path / "settings.json").interface == "lo"
    assert network.words.sentence.endswith(f"({network.place})")


def test_the_preferred_interface_is_taken_where_it_is_there() -> None:
    links = [LOOPBACK, GONE, OFF]
    assert NetworkWishes().preferring("usb0", links).interface == "usb0"
    assert NetworkWishes().preferring("wlan0", links).interface == ""
    assert NetworkWishes().preferring("", links).interface == ""
    assert NetworkWishes("lo").preferring("usb0", links).interface == "lo"
    assert interface_words(OFF) == "wlan0: wireless, 10.0.0.7"


def test_a_strange_preference_is_none(tmp_path: Path) -> None:
    for strange in ("5", '"a\\u0000b"', '"' + "x" * 16 + '"', "[]"):
        (tmp_path / "settings.json").write_text(f'{{"name": "Ada", "interface": {strange}}}')
        assert load_settings(tmp_path / "settings.json").interface == ""
