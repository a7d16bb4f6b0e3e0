"""From an edit in a real window to the store of the pipeline: segments, Parquet files, ingest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb

from app.main import main
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, wait_for
from tests.pipeline.quick import QUICK

SPARK_S = 150


def parquet_files(events: Path) -> list[str]:
    return [str(path) for path in (events / "landed").glob("*.parquet")]


def closed_segments(events: Path) -> set[str]:
    return {path.name for path in (events / "closed").iterdir()}


def test_edits_become_parquet_files_that_the_pipeline_takes_in(
    start_program: StartProgram, tmp_path: Path
) -> None:
    note = tmp_path / "Logged.liveobject"
    assert main(["new", str(note)]) == 0
    events = tmp_path / "Ada" / "events"
    (tmp_path / "Ada").mkdir()
    (tmp_path / "Ada" / "settings.json").write_text('{"activity_log": true, "introduced": true}')
    ada = start_program("Ada", str(note))
    ada.focus()
    ada.type("logged")
    wait_for("the text is there", lambda: ada.text() == "logged")
    ada.quit()
    assert len(list((events / "closed").iterdir())) == 1
    # The next start finds what the last one has left.
    again = start_program("Ada")
    wait_for("a Parquet file", lambda: parquet_files(events))
    assert again.quit() == 0
    left = closed_segments(events)
    assert left, "the collector ends with its program, which closes a segment at its end"
    last = start_program("Ada")
    wait_for("the rest, after the next start", lambda: len(parquet_files(events)) >= 2)
    wait_for("what has landed is removed", lambda: not left & closed_segments(events))
    assert last.quit() == 0

    kinds = "SELECT kind, count(*) FROM read_parquet(?) GROUP BY kind"
    written = dict(duckdb.execute(kinds, [parquet_files(events)]).fetchall())
    assert written.keys() >= {"SEGMENT", "HEALTH", "VIEW", "COUNTERS", "GROUP", "APPLICATION"}
    arguments = ["ingest", str(events / "landed"), "--store", str(tmp_path / "store")]
    for name, value in QUICK.items():
        arguments += ["--conf", f"{name}={value}"]
    result = subprocess.run(
        [sys.executable, "-m", "app.main", "pipeline", "--quiet", *arguments, "--memory", "700m"],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=SPARK_S,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    told = json.loads(result.stdout)
    assert (told["set_aside"], told["refused_files"], told["problems"]) == (0, 0, {})
    assert told["rows"] == sum(written.values())
    assert not left & closed_segments(events)
