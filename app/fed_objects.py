"""Owns the objects that a feed fills: a table for each file, and charts that are drawn of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from app.feed_folder import FeedChart
from liveobj.csv_text import CsvProblem, read_csv
from liveobj.host import Host
from liveobj.objects.chart import Chart, open_chart
from liveobj.objects.table import COLUMNS_MAX, ROWS_MAX, Table, open_table
from liveobj.objects.table_feed import TableFeed
from liveobj.references import Reference, read_reference_file, write_reference_file
from widgets.language import tr

Maker = Callable[[str, Callable[[int], bytes]], Reference]


def read_rows(file: Path) -> list[list[str]]:
    """The rows of a file, the names of its columns first; raises CsvProblem and OSError."""
    rows = read_csv(file.read_bytes(), ROWS_MAX + 1, COLUMNS_MAX)
    if not rows:
        raise CsvProblem(tr("{file} is empty: its first row must name the columns.", file=file))
    return rows


def find_or_make(
    file: Path, title: str, maker: Maker, signed: Callable[[Reference], Reference]
) -> Reference:
    """What the file refers to; where there is none, something new."""
    if not file.exists():
        write_reference_file(signed(maker(title, os.urandom)), file)
    return read_reference_file(file)


class FedTable:
    """A table that follows a file; `problem` is what was told last about why it cannot."""

    def __init__(self, file: Path, reference: Reference, host: Host) -> None:
        self.file = file
        self.table: Table = open_table(reference, host)
        self._feed = TableFeed(self.table)
        self.problem = ""
        self._seen = (0, 0)

    async def look(self) -> int | None:
        """Takes the file over, if it is another one than before, and gives the number of its rows.
        Raises OSError, CsvProblem and DocumentError; the table stays as it is then."""
        status = self.file.stat()
        now = (status.st_mtime_ns, status.st_size)
        if now == self._seen:
            return None
        self._seen = now
        head, *rows = read_rows(self.file)
        self._feed.take(head, rows)
        while self._feed.step():  # noqa: ASYNC110 - lets the engine have its turn
            await asyncio.sleep(0)
        return len(rows)

    def keys_of(self, names: Iterable[str]) -> list[str]:
        """The columns with these names, as far as there are any."""
        content = self.table.content
        keys = {content.column_name(column): column for column in content.columns}
        return [keys[name] for name in names if name in keys]

    def close(self) -> None:
        self.table.flush()
        self.table.close()


class FedChart:
    """A chart of such a table. It is set up once: from then on it is people's."""

    def __init__(self, told: FeedChart, reference: Reference, of: FedTable, host: Host) -> None:
        self._told = told
        self._of = of
        self._chart: Chart = open_chart(reference, host)

    def set_up(self) -> None:
        """Draws what the feed says, unless somebody has chosen already."""
        if self._chart.source is not None:
            return
        self._chart.set_source(self._of.table.reference)
        self._chart.set_shape(self._told.shape)
        self._chart.choose(self._of.keys_of(self._told.columns))
        for column in self._of.keys_of([self._told.labels]):
            self._chart.set_labels(column)

    def close(self) -> None:
        self._chart.flush()
        self._chart.close()
