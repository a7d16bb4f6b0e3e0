"""Which cells the people at a table have chosen: one's own are told, the others' are read."""

from __future__ import annotations

from typing import Any

from liveobj.documents.observing import Plain
from liveobj.formulas.addresses import column_letters
from widgets.table.cell_painter import OtherSelection
from widgets.table.grid import Grid
from widgets.table.table_model import TableModel


class Selections:
    def __init__(self, model: TableModel, grid: Grid) -> None:
        self._model = model
        self._grid = grid
        self._table = model.table

    def others(self) -> list[OtherSelection]:
        """What the others have chosen."""
        entries = self._table.presence.others.values()
        found = (_selection_of(entry.name, entry.colour, entry.spot) for entry in entries)
        return [each for each in found if each is not None]

    def of(self, node: int) -> OtherSelection | None:
        """What somebody has chosen; None where that is not known."""
        entry = self._table.presence.others.get(node)
        return None if entry is None else _selection_of(entry.name, entry.colour, entry.spot)

    def place_words(self, other: OtherSelection) -> str:
        """Where it begins, like B3."""
        place = other.spare or self._table.content.place_of(*other.first)
        return "" if place is None else f"{column_letters(place[1])}{(place[0] or 0) + 1}"

    def tell_mine(self) -> None:
        """Tells the others what is chosen here."""
        self._table.presence.set_spot(self._my_spot())

    def _my_spot(self) -> Any:
        area, model = self._grid.area(), self._model
        if area is None:
            return None
        first = model.cell(model.index(area[0], area[2]))
        bottom = min(area[1], len(model.rows) - 1)
        right = min(area[3], len(model.columns) - 1)
        last = model.cell(model.index(bottom, right))
        if first is not None and last is not None:
            return {"cells": [*first, *last]}
        return {"spare": [*model.spare_number(self._grid.currentIndex())]}


def _selection_of(name: str, colour: str, spot: Plain) -> OtherSelection | None:
    """What somebody says that they have chosen; None for what cannot be."""
    match spot:
        case {"cells": [str(row), str(column), str(last_row), str(last_column)]}:
            return OtherSelection(name, colour, (row, column), (last_row, last_column))
        case {"spare": [int(row), int(column)]}:
            return OtherSelection(name, colour, spare=(row, column))
    return None
