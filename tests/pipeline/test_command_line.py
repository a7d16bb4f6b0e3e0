"""The command: bad input is one sentence and exit code 2, before Spark is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from pipeline import session
from pipeline.command_line import main
from pipeline.errors import PipelineProblem
from pipeline.ingest.store import Store
from pipeline.planning.plan_file import read_plan
from pipeline.progress import Progress
from pipeline.session import SparkOptions, check_java, check_master
from tests.source_tree import ROOT


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "required"),
        (["dance"], "invalid choice"),
        (["generate"], "required"),
        (["generate", "out", "--events", "0"], "is not a number from"),
        (["generate", "out", "--events", "many"], "is not a number from"),
        (["generate", "out", "--hours", "nan"], "is not a number from"),
        (["generate", "{file}/x"], "cannot be written"),
        (["collect", "{none}", "--landing", "{tmp}"], "is not a folder"),
        (["collect", "{tmp}", "--landing", "{file}"], "cannot be written"),
        (["collect", "{tmp}", "--landing", "{tmp}", "--room", "5"], "--room goes with --asked"),
        (["collect", "{tmp}", "--landing", "{tmp}", "--asked"], "--asked goes with one folder"),
        (["collect", "{tmp}", "--landing", "{tmp}", "--asked", "--watch", "5"], "not allowed with"),
        (["ingest", "{tmp}"], "required: --store"),
        (["ingest", "{none}", "--store", "{tmp}"], "does not exist"),
        (["ingest", "{tmp}", "--store", "{tmp}", "--every", "5"], "goes with --stream"),
        (["ingest", "{tmp}", "--store", "{tmp}", "--stream", "--again"], "cannot take in"),
        (["ingest", "{tmp}", "--store", "{tmp}", "--horizon", "0"], "is not a number from"),
        (["analyse", "--store", "{none}"], "run live-objects pipeline ingest first"),
        (["analyse", "--store", "{tmp}", "--master", "mesos://x"], "is not a Spark master"),
        (["analyse", "--store", "{tmp}", "--master", "spark://127.0.0.1:1"], "does not answer"),
        (["analyse", "--store", "{tmp}", "--memory", "much"], "is not a size like"),
        (["analyse", "--store", "{tmp}", "--conf", "x=1"], "is not like spark.name=value"),
        (["plan", "--store", "{tmp}"], "required: --plan"),
        (["plan", "--store", "{tmp}", "--plan", "{tmp}"], "cannot be written"),
        (["plan", "--store", "{tmp}", "--plan", "{tmp}/p", "--last", "{none}"], "cannot be read"),
        (["plan", "--store", "{tmp}", "--plan", "{tmp}/p", "--last", "{file}"], "is not a plan"),
        (["plan", "--store", "{tmp}", "--plan", "{tmp}/p", "--waste", "101"], "is not a number"),
        (["activity", "--store", "{tmp}", "--names"], "goes with --people"),
        (["report", "--store", "{tmp}"], "Say what is wanted"),
        (["report", "--store", "{tmp}", "--report", "{file}/r.html"], "cannot be written"),
        (["report", "--store", "{tmp}", "--feed", "{file}"], "cannot be written"),
        (["bench", "--events", "1,2"], "is not a number from"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    places = {"tmp": str(tmp_path), "none": str(tmp_path / "none"), "file": str(tmp_path / "file")}
    assert main(["--quiet", *(each.format(**places) for each in arguments)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("live-objects pipeline: ")
    assert sentence in told
    assert told.count("\n") == 1


def test_missing_package_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("collect", "serve", "segment_file"):
        monkeypatch.delitem(sys.modules, f"pipeline.landing.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert main(["--quiet", "collect", str(tmp_path), "--landing", str(tmp_path / "landing")]) == 2
    told = capsys.readouterr().err
    assert "package duckdb is missing" in told
    assert "live-objects[landing]" in told


@pytest.mark.parametrize("master", ["local", "local[*]", "local[4]", "yarn", "k8s://https://h:443"])
def test_masters_that_spark_knows_are_taken(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize(
    "master",
    ["", "local[0]", "local[x]", "spark://", "spark://h", "spark://h:x", "k8s://", "http://h:1"],
)
def test_masters_that_spark_does_not_know_are_refused(master: str) -> None:
    with pytest.raises(PipelineProblem, match="is not a Spark master"):
        check_master(master)


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        ("exit 1", "was not found"),
        ("echo 'openjdk version \"11.0.2\"' >&2", "needs Java 17 or later"),
        ("echo nonsense >&2", "needs Java 17 or later"),
    ],
)
def test_missing_and_old_java_are_told(
    says: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\n{says}\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(PipelineProblem, match=sentence):
        check_java()
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PipelineProblem, match="was not found"):
        check_java()


class DeadSpark:
    """A session whose Java has died."""

    def stop(self) -> None:
        raise Py4JError("nobody is there")


def test_what_spark_says_is_one_sentence_and_an_interrupt_stays_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "_build", lambda *_: DeadSpark())
    monkeypatch.setattr(session, "check_java", lambda: None)
    with (
        pytest.raises(PipelineProblem, match=r"^Spark has given up: one$"),
        session.spark_session(SparkOptions()),
    ):
        raise Py4JError("\none\ntwo\nthree")

    def interrupted() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise Py4JError("in the middle of an answer")

    with pytest.raises(KeyboardInterrupt), session.spark_session(SparkOptions()):
        interrupted()
    assert session.first_line(ValueError()) == "no reason given"


def live_objects(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.main", "pipeline", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_application_hands_everything_to_the_other_process(tmp_path: Path) -> None:
    helped = live_objects("--help")
    assert (helped.returncode, helped.stderr) == (0, "")
    assert "generate" in helped.stdout
    made = live_objects(
        "generate", str(tmp_path / "logs"), "--events", "500", "--hours", "0.1", "--segments"
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["events"] == 500
    refused = live_objects("--quiet", "dance")
    assert refused.returncode == 2
    assert refused.stderr.startswith("live-objects pipeline: ")


def test_run_goes_through_all_jobs(
    spark: SparkSession,
    store: Store,
    landing: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def shared(_options: SparkOptions) -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr(session, "spark_session", shared)
    outputs = [("--plan", "plan.txt"), ("--report", "report.html"), ("--feed", "feed")]
    arguments = [part for name, file in outputs for part in (name, str(tmp_path / file))]
    # What is in the store already is not taken in again.
    whole = ["run", str(landing), "--store", store.storage.root]
    assert main([*whole, *arguments]) == 0
    out, err = capsys.readouterr()
    ingested, analysed, activity, planned, *_ = [json.loads(line) for line in out.splitlines()]
    assert ingested["batch"] is None
    assert sum(analysed["rows"].values()) == 12_000
    assert not activity["people"]
    assert planned["plan"]["waste"] <= 0.05
    assert read_plan(tmp_path / "plan.txt")
    assert "Storms and swings" in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "feed" / "feed.json").read_text())["charts"]
    assert "starting Spark" in err


@pytest.mark.parametrize(
    ("watched", "given", "ui"),
    [
        (True, [], True),
        (False, [], False),
        (False, ["--ui"], True),
        (True, ["--no-ui"], False),
        (True, ["--master", "yarn"], False),
        (True, ["--master", "yarn", "--ui"], True),
    ],
)
def test_page_of_spark_is_for_whoever_watches(
    watched: bool, given: list[str], ui: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[SparkOptions] = []

    @contextmanager
    def refused(options: SparkOptions) -> Iterator[SparkSession]:
        asked.append(options)
        raise PipelineProblem("Not today.")
        yield

    monkeypatch.setattr(session, "spark_session", refused)
    monkeypatch.setattr(Progress, "live", property(lambda _: watched))
    assert main(["--quiet", "analyse", "--store", str(tmp_path), *given]) == 2
    assert [options.ui for options in asked] == [ui]


def test_bars_are_for_terminals_only() -> None:
    class Terminal:
        def __init__(self) -> None:
            self.text = ""

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> None:
            self.text += text

        def flush(self) -> None:
            pass

    terminal = Terminal()
    progress = Progress(quiet=False, stream=terminal)  # type: ignore[arg-type]
    progress.bar(1, 2, "events")
    progress.bar(2, 2, "events")
    assert "50%" in terminal.text
    assert terminal.text.endswith("100% events\n")
    quiet = Terminal()
    Progress(quiet=True, stream=quiet).bar(1, 2, "events")  # type: ignore[arg-type]
    assert quiet.text == ""
