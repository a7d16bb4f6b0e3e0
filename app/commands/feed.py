"""`live-objects feed CSV TABLE`: a member without a window that keeps a table like a file.

The file is looked at from time to time; what has changed in it is written into the table, and so
seen at once by everybody who has the table, or a chart of it, open. Made for the feed of
`live-objects pipeline report`, it takes any CSV file whose first row names the columns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from app.commands.arguments import add_state_dir
from app.errors import StartProblem
from app.headless import run_until_ended
from app.headless_host import headless_host
from app.network_wishes import NetworkWishes, add_wishes
from app.paths import Paths, find_paths
from liveobj.csv_text import CsvProblem, read_csv
from liveobj.documents import DocumentError
from liveobj.errors import Problem
from liveobj.objects.table import COLUMNS_MAX, ROWS_MAX, Table, open_table
from liveobj.objects.table_feed import TableFeed
from liveobj.references import Reference, read_reference_file
from widgets.language import tr

EVERY_S = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("csv", metavar="CSV", type=Path, help=tr("the file to follow; its first row has names"))
    add("table", metavar="TABLE", type=Path, help=tr("the reference file of a table"))
    add("--once", action="store_true", help=tr("fill the table, and end when it is on disk"))
    add_wishes(parser)
    add("--name", metavar="NAME", default="Feed", help=tr("how the others see it"))
    add_state_dir(parser)


def run(arguments: argparse.Namespace) -> int:
    try:
        reference = read_reference_file(arguments.table)
        _read(arguments.csv)
    except Problem as problem:
        raise StartProblem(str(problem)) from None
    except OSError as problem:
        raise StartProblem(
            tr("{file} cannot be read: {reason}.", file=arguments.csv, reason=problem.strerror)
        ) from None
    paths = find_paths(os.environ, arguments.state_dir)
    paths.make()
    return run_until_ended(lambda ended: _feed(arguments, paths, reference, ended))


def _read(file: Path) -> list[list[str]]:
    rows = read_csv(file.read_bytes(), ROWS_MAX + 1, COLUMNS_MAX)
    if not rows:
        raise CsvProblem(tr("{file} is empty: its first row must name the columns.", file=file))
    return rows


async def _feed(
    arguments: argparse.Namespace, paths: Paths, reference: Reference, ended: asyncio.Event
) -> int:
    async with headless_host(paths, NetworkWishes.of(arguments), arguments.name) as host:
        try:
            table = open_table(reference, host)
        except Problem as problem:
            raise StartProblem(str(problem)) from None
        try:
            await _follow(arguments, table, ended)
        finally:
            table.flush()
            table.close()
    return 0


async def _follow(arguments: argparse.Namespace, table: Table, ended: asyncio.Event) -> None:
    feed, seen = TableFeed(table), (0, 0)
    while not ended.is_set():
        try:
            status = arguments.csv.stat()
            now = (status.st_mtime_ns, status.st_size)
            if now != seen:
                seen = now
                head, *rows = _read(arguments.csv)
                feed.take(head, rows)
                while feed.step():  # noqa: ASYNC110 - lets the engine have its turn
                    await asyncio.sleep(0)
                sys.stdout.write(
                    tr("{title}: {count} rows", title=table.title, count=len(rows)) + "\n"
                )
                sys.stdout.flush()
        except (OSError, CsvProblem, DocumentError) as problem:
            # Whoever makes the file may be at it, or make a better one: the table stays as it is.
            sys.stderr.write(
                tr("{file} is not taken over: {problem}", file=arguments.csv, problem=problem)
                + "\n"
            )
        if arguments.once:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), EVERY_S)
