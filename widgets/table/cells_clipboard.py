"""Cells on the clipboard: as text for every program, and in our own form, in which formulas keep
what they refer to."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QMimeData

from liveobj.objects.table_content import CELL_CHARACTERS_MAX

CELLS_MIME = "application/x-liveobject-cells+json"
TEXT_BYTES_MAX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CopiedCells:
    """Texts in the form in which they are kept, of one table, and where they were."""

    table: str
    row: int
    column: int
    texts: tuple[tuple[str, ...], ...]


def mime_of_cells(copied: CopiedCells, shown: Sequence[Sequence[str]]) -> QMimeData:
    """What goes to the clipboard; `shown` are the cells as they are read."""
    mime = QMimeData()
    out = io.StringIO()
    csv.writer(out, delimiter="\t", lineterminator="\n").writerows(shown)
    mime.setText(out.getvalue())
    own = {
        "table": copied.table,
        "row": copied.row,
        "column": copied.column,
        "texts": copied.texts,
    }
    mime.setData(CELLS_MIME, QByteArray(json.dumps(own).encode()))
    return mime


def cells_in(mime: QMimeData) -> CopiedCells | None:
    """Cells that were copied from a table; None for anything else, whoever made it."""
    if not mime.hasFormat(CELLS_MIME):
        return None
    data = bytes(mime.data(CELLS_MIME).data())
    if len(data) > TEXT_BYTES_MAX:
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    match found:
        case {"table": str(table), "row": int(row), "column": int(column), "texts": [*texts]}:
            rows = [row for row in texts if isinstance(row, list)]
            if len(rows) == len(texts) and all(_is_cell(cell) for each in rows for cell in each):
                return CopiedCells(table, row, column, tuple(tuple(each) for each in rows))
    return None


def _is_cell(value: object) -> bool:
    return isinstance(value, str) and len(value) <= CELL_CHARACTERS_MAX


def rows_in_text(text: str) -> list[list[str]]:
    """Rows from a text that was copied anywhere, fields between tabs."""
    text = text[:TEXT_BYTES_MAX].replace("\r\n", "\n").removesuffix("\n")
    try:
        return [row or [""] for row in csv.reader(io.StringIO(text), delimiter="\t")]
    except csv.Error:
        return [line.split("\t") for line in text.split("\n")]
