"""`live-objects feed FEED TARGET`: a member without a window that keeps tables like files.

The files are looked at from time to time; what has changed in them is written into the tables, and
so seen at once by everybody who has them, or charts of them, open. For a whole folder, as
`live-objects pipeline report` writes it, tables and charts are made, too; a single table follows
any CSV file whose first row names the columns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from app.commands.arguments import add_state_dir
from app.commands.new import signed_in
from app.errors import StartProblem
from app.fed_objects import FedChart, FedTable, find_or_make, read_rows
from app.feed_folder import file_name, read_feed
from app.headless import run_until_ended
from app.headless_host import headless_host
from app.network_wishes import NetworkWishes, add_wishes
from app.paths import Paths, find_paths
from liveobj.csv_text import CsvProblem
from liveobj.documents import DocumentError
from liveobj.errors import Problem
from liveobj.host import Host
from liveobj.objects.chart import new_chart
from liveobj.objects.table import new_table
from liveobj.references import read_reference_file
from widgets.language import tr

EVERY_S = 2.0

# Opens what is fed, each to be closed with the stack.
Open = Callable[[Host, ExitStack], tuple[list[FedTable], list[FedChart]]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("feed", metavar="FEED", type=Path, help=tr("a CSV file, or a folder of the pipeline"))
    add(
        "target",
        metavar="TARGET",
        type=Path,
        help=tr("the reference file of a table; for a folder, where such files go"),
    )
    add("--once", action="store_true", help=tr("fill the table, and end when it is on disk"))
    add_wishes(parser)
    add("--name", metavar="NAME", default="Feed", help=tr("how the others see it"))
    add_state_dir(parser)


def run(arguments: argparse.Namespace) -> int:
    paths = find_paths(os.environ, arguments.state_dir)
    source: Path = arguments.feed
    try:
        prepare = _whole_folder if source.is_dir() else _one_table
        opens = prepare(source, arguments.target, paths)
    except Problem as problem:
        raise StartProblem(str(problem)) from None
    except OSError as problem:
        raise StartProblem(
            tr(
                "{file} cannot be read: {reason}.",
                file=problem.filename or source,
                reason=problem.strerror,
            )
        ) from None
    paths.make()
    return run_until_ended(lambda ended: _feed(arguments, paths, opens, ended))


def _one_table(file: Path, target: Path, _paths: Paths) -> Open:
    reference = read_reference_file(target)
    read_rows(file)

    def opens(host: Host, stack: ExitStack) -> tuple[list[FedTable], list[FedChart]]:
        table = FedTable(file, reference, host)
        stack.callback(table.close)
        return [table], []

    return opens


def _whole_folder(folder: Path, target: Path, paths: Paths) -> Open:
    """Every table and every chart has a reference file in the target, made where it is missing."""
    feed = read_feed(folder)
    target.mkdir(parents=True, exist_ok=True)
    signed = partial(signed_in, paths)
    tables = {
        name: (
            told.file,
            find_or_make(target / file_name(told.title), told.title, new_table, signed),
        )
        for name, told in feed.tables.items()
    }
    charts = [
        (told, find_or_make(_chart_file(target, told.title), told.title, new_chart, signed))
        for told in feed.charts.values()
    ]

    def opens(host: Host, stack: ExitStack) -> tuple[list[FedTable], list[FedChart]]:
        fed = {name: FedTable(file, reference, host) for name, (file, reference) in tables.items()}
        for table in fed.values():
            stack.callback(table.close)
        drawn = [FedChart(told, reference, fed[told.table], host) for told, reference in charts]
        for chart in drawn:
            stack.callback(chart.close)
        return list(fed.values()), drawn

    return opens


def _chart_file(target: Path, title: str) -> Path:
    return target / file_name(tr("{title} (chart)", title=title))


async def _feed(
    arguments: argparse.Namespace, paths: Paths, opens: Open, ended: asyncio.Event
) -> int:
    async with headless_host(paths, NetworkWishes.of(arguments), arguments.name) as host:
        with ExitStack() as stack:
            try:
                tables, charts = opens(host, stack)
            except Problem as problem:
                raise StartProblem(str(problem)) from None
            await _look(tables)
            for chart in charts:
                chart.set_up()
            while not arguments.once and not ended.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(ended.wait(), EVERY_S)
                await _look(tables)
    return 0


async def _look(tables: Sequence[FedTable]) -> None:
    for each in tables:
        try:
            count = await each.look()
        except (OSError, CsvProblem, DocumentError) as problem:
            # Whoever makes the file may be at it, or make a better one: the table stays as it is.
            told = tr("{file} is not taken over: {problem}", file=each.file, problem=problem)
            if told != each.problem:
                each.problem = told
                sys.stderr.write(told + "\n")
            continue
        each.problem = ""
        if count is not None:
            title = each.table.title
            sys.stdout.write(tr("{title}: {count} rows", title=title, count=count) + "\n")
            sys.stdout.flush()
