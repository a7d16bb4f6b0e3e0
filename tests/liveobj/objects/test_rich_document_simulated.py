"""The rich document over the real engine in the simulator: formatted apart, the same for all."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from liveobj.objects.rich_document import RichDocument, new_document, open_document
from liveobj.richtext.embeds import Cell
from liveobj.richtext.model import Run, Table
from tests.liveobj.richtext.test_rich_text import edit
from tests.liveobj.simulated import SimulatedOffice
from transport.simulation import Link


def edit_table(dice: random.Random, document: RichDocument, name: str) -> None:
    parts = document.body.embeds.table(name)
    rows, columns = parts.rows, parts.columns
    match dice.randrange(4):
        case 0:
            parts.add_row(dice.randint(0, len(rows)), document.body.embeds.new_name())
        case 1 if len(rows) > 1:
            parts.remove_row(dice.choice(rows))
        case _ if rows:
            cell = parts.cell(Cell(dice.choice(rows), dice.choice(columns)))
            cell.replace(0, 0, [Run(dice.choice("abc"), {"bold": True})])


@pytest.mark.parametrize("seed", [1, 2])
def test_four_people_format_while_packets_are_lost_and_the_office_is_split(
    tmp_path: Path, seed: int
) -> None:
    reference = new_document("Report", random.Random(seed).randbytes)
    office = SimulatedOffice(tmp_path, 4, seed, Link(loss=0.05))
    documents = [open_document(reference, host) for host in office.hosts]
    dice = random.Random(seed)
    office.until(lambda: all(document.state.people == 4 for document in documents))
    documents[0].body.insert(0, [Table((((Run("x"),), ()), ((), ())))])
    name = str(documents[0].body.rich.lines()[0].runs[0].marks["embed"])

    def same() -> bool:
        versions = [document.document.version for document in documents]
        return all(version == versions[0] for version in versions)

    office.until(same)

    def write(turns: int) -> None:
        for _ in range(turns):
            document = dice.choice(documents)
            if dice.random() < 0.3:
                edit_table(dice, document, name)
            else:
                edit(dice, document.body.rich)
            if dice.random() < 0.1:
                document.document.undo()
            office.simulation.run_for(0.01)

    write(60)
    office.simulation.partition(office.engines[:2], office.engines[2:])
    office.until(lambda: all(document.state.people == 2 for document in documents), 180)
    write(60)
    office.simulation.heal()
    office.until(lambda: all(document.state.people == 4 for document in documents), 180)
    office.until(same, 180)
    contents = [document.body.content() for document in documents]
    assert all(content == contents[0] for content in contents)
    tables = [document.body.embeds.read_table(name) for document in documents]
    assert all(table == tables[0] for table in tables)
    office.close()
