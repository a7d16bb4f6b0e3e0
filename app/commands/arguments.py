"""Arguments that several commands have: which profile, which network, which port, which peers."""

from __future__ import annotations

import argparse
from pathlib import Path

from transport.config import Peer
from transport.errors import BadArgument
from widgets.language import tr


def add_state_dir(parser: argparse.ArgumentParser, what: str | None = None) -> None:
    """The folder of the profile; `what` says what it is to the command."""
    what = what or tr("keep everything below this folder")
    parser.add_argument("--state-dir", metavar="DIR", type=Path, help=what)


def add_interface(parser: argparse.ArgumentParser, what: str | None = None) -> None:
    what = what or tr("network interface, by name or address")
    parser.add_argument("--interface", metavar="ADDR", default="", help=what)


def add_port(parser: argparse.ArgumentParser, what: str | None = None) -> None:
    """0, when it is not given: any free one."""
    what = what or tr("UDP port (any free one if not given)")
    parser.add_argument("--port", metavar="N", type=port_number, default=0, help=what)


def add_peers(parser: argparse.ArgumentParser, what: str) -> None:
    """Peers, as many as are given."""
    parser.add_argument(
        "--peer", metavar="ADDR:PORT", type=_peer, action="append", default=[], help=what
    )


def _peer(text: str) -> Peer:
    try:
        return Peer.parse(text)
    except BadArgument as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def port_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(
            tr("{given} is not a port from 1 to 65535", given=repr(text))
        )
    return int(text)
