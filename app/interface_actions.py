"""Choosing the network interface in the window, for those whose computer has several."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.network import OfficeNetwork
from app.settings import SettingsKeeper
from transport.errors import TransportError
from transport.links import Kind, Link, list_links
from widgets.language import tr
from widgets.office_network_page import OfficeNetworkPage


def interface_words(link: Link) -> str:
    """An interface, for a person."""
    kinds = {
        Kind.WIRED: tr("cable"),
        Kind.WIRELESS: tr("wireless"),
        Kind.VPN: "VPN",
        Kind.VIRTUAL: tr("virtual"),
        Kind.LOOPBACK: tr("this PC only"),
    }
    return f"{link.name}: {kinds[link.kind]}, {link.address}"


class InterfaceActions:
    """What is chosen counts at once, and at later starts as long as the interface is there."""

    def __init__(
        self,
        network: OfficeNetwork,
        settings: SettingsKeeper,
        links: Callable[[], Sequence[Link]] = list_links,
    ) -> None:
        self._network = network
        self._settings = settings
        self._links = links

    def show_on(self, page: OfficeNetworkPage) -> None:
        """The choice as it is, and as it is made there."""
        self._show(page)
        page.interface_wanted.connect(lambda name: self._choose(page, name))

    def _show(self, page: OfficeNetworkPage) -> None:
        usable = [link for link in self._links() if link.usable]
        listed = [(link.name, interface_words(link)) for link in usable]
        page.show_interfaces(listed, self._network.engine.wanted.interface)

    def _choose(self, page: OfficeNetworkPage, name: str) -> None:
        try:
            self._network.choose_interface(name)
        except TransportError as problem:
            page.say(str(problem))
        else:
            self._settings.change(interface=name)
            page.say(tr("This PC is at {place} now.", place=self._network.place))
        self._show(page)
