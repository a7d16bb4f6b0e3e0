"""`live-objects keep FILE…`: a member without a window that keeps objects alive and on disk.

Whoever opens a kept object later has what was written while nobody else was there. Plain asyncio;
ends cleanly on SIGTERM and SIGINT.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from app.commands.arguments import add_state_dir
from app.errors import StartProblem
from app.headless import run_until_ended
from app.headless_host import headless_host
from app.network_wishes import NetworkWishes, add_wishes
from app.paths import Paths, find_paths
from liveobj.keeping import Keeper
from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "files",
        metavar="FILE",
        type=Path,
        nargs="+",
        help=tr("reference files of what is to be kept"),
    )
    add_wishes(parser)
    add("--name", metavar="NAME", default="Keeper", help=tr("how the others see it"))
    add_state_dir(parser)


def run(arguments: argparse.Namespace) -> int:
    missing = [file for file in arguments.files if not file.is_file()]
    if missing:
        raise StartProblem(tr("There is no file {file} to keep.", file=repr(str(missing[0]))))
    paths = find_paths(os.environ, arguments.state_dir)
    paths.make()
    return run_until_ended(lambda ended: _keep(arguments, paths, ended))


async def _keep(arguments: argparse.Namespace, paths: Paths, ended: asyncio.Event) -> int:
    async with headless_host(paths, NetworkWishes.of(arguments), arguments.name) as host:
        keeper = Keeper(host, [file.resolve() for file in arguments.files])
        try:
            for kept in keeper.state():
                sys.stdout.write(f"{kept.path}: {kept.sentence}\n")
            sys.stdout.flush()
            await ended.wait()
        finally:
            keeper.close()
    return 0
