"""`live-objects confined`: what the program starts itself as, where it is compiled, to run a
package's code apart."""

from __future__ import annotations

import argparse

from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("arguments", nargs="+", help=tr("as the program itself gives them"))


def run(arguments: argparse.Namespace) -> int:
    from liveobj.confinement.child import main  # noqa: PLC0415 - it takes over the output

    return main(arguments.arguments)
