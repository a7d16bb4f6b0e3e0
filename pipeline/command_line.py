"""Runs one job as the command line asks: checks first, then Spark, then one sentence about it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipeline.arguments import PROGRAM, parser
from pipeline.errors import EXIT_BAD_INPUT, PipelineProblem
from pipeline.files import check_writable, replace_file
from pipeline.progress import Progress

# Packages that only some jobs need, and the extra that brings each.
_EXTRAS = {
    "duckdb": "landing",
    **dict.fromkeys(("pyspark", "py4j", "pyarrow", "pandas", "numpy"), "pipeline"),
}


def main(arguments: Sequence[str]) -> int:
    """Bad input is one sentence on the error stream and exit code 2."""
    try:
        given = parser().parse_args(arguments)
        progress = Progress(quiet=given.quiet)
        _WITHOUT_SPARK.get(given.job, _with_spark)(given, progress)
    except PipelineProblem as problem:
        sys.stderr.write(f"{PROGRAM}: {problem}\n")
        return EXIT_BAD_INPUT
    except ModuleNotFoundError as problem:
        extra = _EXTRAS.get((problem.name or "").partition(".")[0])
        if extra is None:
            raise
        sys.stderr.write(
            f"{PROGRAM}: The package {problem.name} is missing: install the Python package with"
            f" its extra, live-objects[{extra}].\n"
        )
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130
    return 0


def _say(**facts: Any) -> None:
    """A result, as JSON on the output stream: for people who look and programs that read."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


# Jobs without Spark


def _generate(given: argparse.Namespace, progress: Progress) -> None:
    from pipeline.generator.office import OfficePlan, make_office  # noqa: PLC0415 - only here
    from pipeline.generator.options import TraceOptions  # noqa: PLC0415
    from pipeline.generator.write import (  # noqa: PLC0415
        write_landed,
        write_memberships,
        write_segments,
    )

    check_writable(given.out / "file")
    office = make_office(given.seed, OfficePlan(people=given.people, objects=given.objects))
    if given.memberships:
        _say(memberships=write_memberships(office, given.out))
        return
    options = TraceOptions(given.events, seed=given.seed, hours=given.hours)
    write = write_segments if given.segments else write_landed
    count = write(office, options, given.out, lambda n: progress.bar(n, given.events, "events"))
    _say(events=count, memberships=office.memberships)


def _collect(given: argparse.Namespace, progress: Progress) -> None:
    from pipeline.landing.collect import collect, watch  # noqa: PLC0415 - only here
    from pipeline.landing.serve import end_with_parent, serve  # noqa: PLC0415

    if given.asked:
        if len(given.logs) != 1 or given.room is None or given.keep:
            raise PipelineProblem("--asked goes with one folder and --room, and not with --keep.")
        end_with_parent()
        serve(given.logs[0], given.landing, sys.stdin, given.room << 20, progress.step)
        return
    if given.room is not None:
        raise PipelineProblem("--room goes with --asked.")
    check_writable(given.landing / "file")
    if given.watch is not None:
        watch(given.logs, given.landing, given.watch, progress.step)
        return
    done = collect(given.logs, given.landing, keep=given.keep, tell=progress.step)
    _say(segments=done.segments, rows=done.rows, refused=done.refused)


def _bench(given: argparse.Namespace, progress: Progress) -> None:
    from pipeline.bench.run import bench  # noqa: PLC0415 - a tool, with rivals of its own

    bench(
        given.events, only=given.only, json_file=given.json, master=given.master, tell=progress.step
    )


_WITHOUT_SPARK = {"generate": _generate, "collect": _collect, "bench": _bench}

# Jobs with Spark


@dataclass(frozen=True, slots=True)
class Run:
    """What a step is given; `name` is for its results."""

    spark: Any
    store: Any
    name: str
    given: argparse.Namespace
    progress: Progress


def _with_spark(given: argparse.Namespace, progress: Progress) -> None:
    from pipeline.session import SparkOptions, spark_session  # noqa: PLC0415 - after all checks

    _check(given)
    options = SparkOptions(
        master=given.master,
        memory=given.memory,
        progress=progress.live,
        settings=dict(given.conf),
    )
    # Whoever watches has bars, and the page where there is more to be seen; a port that others can
    # reach, as on a cluster, is opened for those only who ask for it.
    wanted = progress.live and options.local if given.ui is None else given.ui
    options = replace(options, ui=wanted)
    progress.step("starting Spark")
    with spark_session(options) as spark:
        from pipeline.ingest.store import Store  # noqa: PLC0415

        ui = spark.sparkContext.uiWebUrl
        progress.step(f"Spark {spark.version} on {given.master}" + (f", see {ui}" if ui else ""))
        store = Store(spark, given.store)
        run = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        for name in (given.job,) if given.job != "run" else _steps_of(given):
            progress.step(name)
            _STEPS[name](Run(spark, store, run, given, progress))


def _check(given: argparse.Namespace) -> None:
    """What can be refused without Spark, is."""
    for name in ("plan", "report", "hints"):
        if getattr(given, name, None) is not None:
            check_writable(getattr(given, name))
    if getattr(given, "last", None) is not None:
        from pipeline.planning.plan_file import read_plan  # noqa: PLC0415

        read_plan(given.last)
    store = Path(given.store)
    if is_local(given.store) and given.job not in ("ingest", "run") and not store.is_dir():
        raise PipelineProblem(f"{store} does not exist: run live-objects pipeline ingest first.")
    landing = getattr(given, "landing", None)
    if landing is not None and is_local(landing) and not Path(landing).is_dir():
        raise PipelineProblem(f"{landing} does not exist: name the folder of landed files.")
    if getattr(given, "feed", None) is not None:
        check_writable(given.feed / "feed.json")
    if given.job == "report" and given.report is None and given.feed is None:
        raise PipelineProblem("Say what is wanted: --report FILE, --feed FOLDER, or both.")
    if getattr(given, "names", False) and not given.people:
        raise PipelineProblem("--names goes with --people.")
    if getattr(given, "every", None) is not None and not given.stream:
        raise PipelineProblem("--every goes with --stream.")
    if getattr(given, "again", False) and given.stream:
        raise PipelineProblem("A stream cannot take in --again: run ingest without --stream.")


def is_local(path: str) -> bool:
    """Whether a path names a file of this computer."""
    return urlsplit(path).scheme in ("", "file")


def _steps_of(given: argparse.Namespace) -> list[str]:
    steps = ["ingest", "analyse", "activity"]
    if given.plan is not None:
        steps.append("plan")
    if given.report is not None or given.feed is not None:
        steps.append("report")
    return steps


def _ingest(this: Run) -> None:
    from pipeline.ingest.job import Ingested, IngestOptions, ingest  # noqa: PLC0415
    from pipeline.ingest.stream import stream  # noqa: PLC0415

    def tell(done: Ingested) -> None:
        _say(
            batch=done.batch,
            rows=done.rows,
            set_aside=done.set_aside,
            refused_files=done.refused,
            problems=done.manifest["problems"],
        )

    given = this.given
    again = getattr(given, "again", False)
    options = IngestOptions(given.landing, time.time_ns(), given.horizon, again)
    if getattr(given, "stream", False):
        stream(this.spark, this.store, options, every_s=given.every, tell=tell)
    else:
        tell(ingest(this.spark, this.store, options))


def _analyse(this: Run) -> None:
    from pipeline.analytics.job import analyse  # noqa: PLC0415

    _say(**analyse(this.spark, this.store, this.name, this.progress.step))


def _plan(this: Run) -> None:
    from pipeline.planning.job import PlanOptions, plan  # noqa: PLC0415
    from pipeline.planning.merge import Limits  # noqa: PLC0415

    given = this.given
    limits = Limits(given.waste / 100, given.regions, given.size_min)
    options = PlanOptions(given.plan, given.last, limits)
    _say(**plan(this.spark, this.store, this.name, options, this.progress.step))


def _activity(this: Run) -> None:
    from pipeline.activity.job import ActivityOptions, activity  # noqa: PLC0415

    given = this.given
    options = ActivityOptions(
        time.time_ns(), given.people, given.names, given.retention, given.hints
    )
    _say(**activity(this.spark, this.store, this.name, options, this.progress.step))


def _report(this: Run) -> None:
    from pipeline.report.feed import write_feed  # noqa: PLC0415
    from pipeline.report.figures import read_figures  # noqa: PLC0415
    from pipeline.report.page import page  # noqa: PLC0415

    given = this.given
    figures = read_figures(this.spark, this.store)
    made = f"Made {datetime.now(UTC):%Y-%m-%d %H:%M} UTC from {given.store}; times are UTC"
    if given.report is not None:
        html = page(figures, made)
        replace_file(given.report, html.encode())
        _say(report=str(given.report))
    if given.feed is not None:
        write_feed(figures, Path(given.feed))
        _say(feed=str(given.feed))


_STEPS = {
    "ingest": _ingest,
    "analyse": _analyse,
    "plan": _plan,
    "activity": _activity,
    "report": _report,
}
