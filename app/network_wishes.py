"""How a person wants to be connected: by which interface and port, and whom to ask first."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.commands.arguments import add_interface, add_peers, add_port
from transport.config import EngineConfig, Peer
from transport.links import Link
from transport.peer_book import choose_peers
from transport.scopes import Scope
from widgets.language import tr


@dataclass(frozen=True, slots=True)
class NetworkWishes:
    """Nothing is wanted by default: any interface, any port, and whoever is found. `peers` are
    typed addresses."""

    interface: str = ""
    port: int = 0
    peers: tuple[Peer, ...] = ()

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> NetworkWishes:
        """Those of a parser that has `add_wishes`."""
        return cls(arguments.interface, arguments.port, tuple(arguments.peer))

    def preferring(self, interface: str, links: Iterable[Link]) -> NetworkWishes:
        """With the interface that the person prefers, if it is there and none was asked for."""
        there = any(link.name == interface and link.usable for link in links)
        return replace(self, interface=interface) if there and not self.interface else self

    def config(self, scope: Scope, met: Iterable[Peer]) -> EngineConfig:
        """Whoever was typed is asked before those who were met at earlier times."""
        return EngineConfig(
            scope=scope,
            interface=self.interface,
            port=self.port,
            known_peers=choose_peers(self.peers, met),
        )


def add_wishes(parser: argparse.ArgumentParser) -> None:
    add_interface(parser)
    add_port(parser)
    add_peers(parser, tr("a computer to ask first, where others are not found by themselves"))
