"""Files of cells that come into a table and go out of it, while others write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.widgets.pair import Pair
from tests.widgets.table.cells import fill, rows


def test_csv_goes_out_and_comes_in(pair: Pair, qtbot: Any, tmp_path: Path) -> None:
    ada, jun = pair.views
    source = tmp_path / "in.csv"
    source.write_bytes(
        "Name;Preis;Wann\nKäse;1,5;2026-01-02\n=1+1;2;2026-01-03\n".encode("latin-1")
    )
    ada.import_file(source)
    qtbot.waitUntil(lambda: len(rows(ada)) == 2 and rows(ada)[1][0] != "")
    pair.settle()
    description = jun.describe()
    assert [column["name"] for column in description["columns"]] == ["Name", "Preis", "Wann"]
    assert [column["type"] for column in description["columns"]] == ["text", "number", "date"]
    assert rows(jun)[0][:1] == ["Käse"]
    assert rows(jun)[1][0] == "'=1+1", "what stands in a file is not run"
    target = tmp_path / "out.csv"
    jun.export_file(target)
    qtbot.waitUntil(lambda: not jun.csv.is_busy)
    assert target.read_bytes().decode("utf-8-sig").splitlines()[1].startswith("Käse,")
    pair.ada.run("edit.undo")
    assert rows(ada) == []


def test_a_file_that_is_no_table_changes_nothing(pair: Pair, qtbot: Any, tmp_path: Path) -> None:
    ada, _ = pair.views

    def ended() -> None:
        qtbot.waitUntil(lambda: not ada.csv.is_busy)

    ada.import_file(tmp_path / "missing.csv")
    ended()
    assert "was not imported" in pair.ada.window.notice.text
    wide = tmp_path / "wide.csv"
    wide.write_text("," * 600)
    ada.import_file(wide)
    ended()
    assert "more than 500 columns" in pair.ada.window.notice.text
    ada.export_file(tmp_path / "missing" / "x.csv")
    ended()
    assert "was not written" in pair.ada.window.notice.text
    assert rows(ada) == []


def test_a_large_file_comes_in_by_turns_and_can_be_stopped(
    pair: Pair, qtbot: Any, tmp_path: Path
) -> None:
    ada, _ = pair.views
    source = tmp_path / "large.csv"
    source.write_text("\n".join(f"row {number},{number}" for number in range(3500)))
    turns: list[int] = []
    ada.csv._show_import = lambda done, _of: turns.append(done)
    assert not pair.ada.run("table.stop")
    ada.import_file(source)
    assert ada.csv.is_busy
    qtbot.waitUntil(lambda: not ada.csv.is_busy, timeout=20_000)
    content = ada.table.content
    assert [content.value(content.rows[at], content.columns[0]) for at in (0, 999, 1000, 3499)] == [
        f"row {number}" for number in (0, 999, 1000, 3499)
    ]
    assert len(content.rows) == 3500
    assert len(turns) > 3
    pair.ada.run("edit.undo")
    assert rows(ada) == []
    ada.import_file(source)
    qtbot.waitUntil(lambda: len(content.rows) > 0)
    assert pair.ada.run("table.stop")
    assert not ada.csv.is_busy
    assert 0 < len(content.rows) < 3500


def test_a_file_comes_in_whole_while_others_delete_and_insert_rows(
    pair: Pair, qtbot: Any, tmp_path: Path
) -> None:
    ada, _ = pair.views
    fill(ada, [["top"], ["other"]])
    source = tmp_path / "rows.csv"
    source.write_text("\n".join(f"row {number}" for number in range(2300)))
    ada.import_file(source)
    table = ada.table
    qtbot.waitUntil(lambda: len(table.content.rows) > 2)
    table.delete_rows([table.content.rows[0], table.content.rows[900]])
    table.insert_rows(0)
    qtbot.waitUntil(lambda: not ada.csv.is_busy, timeout=20_000)
    column = table.content.columns[0]
    shown = [table.content.value(row, column) for row in table.content.rows]
    wanted = [f"row {number}" for number in range(2300) if number != 898]
    assert [value for value in shown if value not in (None, "other")] == wanted
