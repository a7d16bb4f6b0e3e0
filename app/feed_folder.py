"""What a folder of the pipeline's feed holds: tables in files, and charts that are drawn of them.

The folder comes from elsewhere: what is not of the form is refused with a sentence, and no name in
it leads out of the folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from app.json_file import load_object
from liveobj.errors import Problem
from liveobj.objects.chart import Shape
from widgets.language import tr

INDEX_FILE = "feed.json"
FORM = 2
ENTRIES_MAX = 100
TITLE_CHARACTERS_MAX = 80
_NAME = re.compile(r"[a-z0-9_]{1,40}")
_NOT_IN_FILE_NAMES = re.compile(r"[^\w ,.%()-]")


Entry = TypeVar("Entry")


class FeedProblem(Problem):
    """A folder that is no feed; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class FeedTable:
    """A table by its title, and the file with its rows."""

    title: str
    file: Path


@dataclass(frozen=True, slots=True)
class FeedChart:
    """A chart over columns of a table, which are given by their names."""

    title: str
    table: str
    shape: Shape
    labels: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeedFolder:
    """By name."""

    tables: dict[str, FeedTable]
    charts: dict[str, FeedChart]


def read_feed(folder: Path) -> FeedFolder:
    """Raises FeedProblem where there is no feed of a form that is known."""
    index = load_object(folder / INDEX_FILE)
    if index.get("form") != FORM:
        raise FeedProblem(
            tr(
                "{folder} is no feed: it has no {file} of form {form}.",
                folder=folder,
                file=INDEX_FILE,
                form=FORM,
            )
        )
    try:
        tables = _entries(index["tables"], lambda told, name: _table(told, folder, name))
        charts = _entries(index["charts"], lambda told, _: _chart(told, tables))
    except (KeyError, TypeError, ValueError):
        raise FeedProblem(
            tr("{file} in {folder} is damaged.", file=INDEX_FILE, folder=folder)
        ) from None
    return FeedFolder(tables, charts)


def file_name(title: str) -> str:
    """The name of a reference file for something with this title."""
    return f"{_NOT_IN_FILE_NAMES.sub('_', title).strip(' .') or 'feed'}.liveobject"


def _entries(listed: Any, read: Callable[[Any, str], Entry]) -> dict[str, Entry]:
    if not isinstance(listed, list) or len(listed) > ENTRIES_MAX:
        raise TypeError
    found = {}
    for told in listed:
        name = _text(told["name"])
        if not _NAME.fullmatch(name):
            raise ValueError(name)
        found[name] = read(told, name)
    return found


def _table(told: Any, folder: Path, name: str) -> FeedTable:
    return FeedTable(_text(told["title"]), folder / f"{name}.csv")


def _chart(told: Any, tables: dict[str, FeedTable]) -> FeedChart:
    table = _text(told["table"])
    if table not in tables or not isinstance(told["y"], list):
        raise ValueError(table)
    columns = tuple(map(_text, told["y"]))
    return FeedChart(_text(told["title"]), table, Shape(told["kind"]), _text(told["x"]), columns)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError
    return value[:TITLE_CHARACTERS_MAX]
