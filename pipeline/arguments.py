"""What may be written behind `live-objects pipeline`: every job with its options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from pipeline.errors import PipelineProblem

PROGRAM = "live-objects pipeline"

JOBS = {
    "generate": "make logs of an office that does not exist, from a seed",
    "collect": "turn closed segments of event logs into Parquet files",
    "ingest": "take landed files into a store, once or as a stream",
    "analyse": "make the tables of what the network did",
    "plan": "plan regions for the membership service",
    "activity": "find what is used together, and what can shrink",
    "report": "write the report for people and the feed for a desktop",
    "run": "ingest, analyse, plan, activity and report, one after the other",
    "bench": "measure the jobs, beside DuckDB and plain Python",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sentence = message[:1].upper() + message[1:].rstrip(".")
        raise PipelineProblem(f"{sentence}: see {self.prog} --help.")


def parser() -> argparse.ArgumentParser:
    """The parser of all jobs."""
    whole = _Parser(prog=PROGRAM, description="Jobs on event logs.", allow_abbrev=False)
    whole.add_argument("--quiet", action="store_true", help="say nothing but results and problems")
    jobs = whole.add_subparsers(dest="job", metavar="JOB", required=True)

    def job(name: str) -> argparse.ArgumentParser:
        return jobs.add_parser(name, help=JOBS[name], description=f"{JOBS[name].capitalize()}.")

    _generate(job("generate"))
    _collect(job("collect"))
    ingest = job("ingest")
    _landing(ingest)
    ingest.add_argument("--stream", action="store_true", help="remember by a checkpoint")
    ingest.add_argument(
        "--every", metavar="S", type=_number(1, 3600), help="go on, every S seconds"
    )
    ingest.add_argument("--again", action="store_true", help="take everything in anew")
    analyse = job("analyse")
    plan = job("plan")
    _plan(plan, required=True)
    activity = job("activity")
    _activity(activity)
    report = job("report")
    _report(report)
    run = job("run")
    _landing(run)
    _plan(run, required=False)
    _activity(run)
    _report(run)
    for each in (ingest, analyse, plan, activity, report, run):
        each.add_argument("--store", metavar="PATH", required=True, help="folder of the store")
        _spark(each)
    bench = job("bench")
    bench.add_argument("--events", metavar="N,…", type=_sizes, default=[1_000_000, 10_000_000])
    bench.add_argument("--json", metavar="FILE", type=Path, help="write the figures here, too")
    bench.add_argument("--only", choices=["events", "planning"], help="only one half of it")
    _spark(bench)
    return whole


def _generate(job: argparse.ArgumentParser) -> None:
    add = job.add_argument
    add("out", metavar="FOLDER", type=Path, help="where the files go")
    add("--events", metavar="N", type=_whole(100, 10_000_000_000), default=1_000_000)
    add("--seed", metavar="N", type=_whole(0, 2**63), default=1)
    add("--people", metavar="N", type=_whole(2, 1_000_000), default=2000)
    add("--objects", metavar="N", type=_whole(1, 1_000_000), default=10_000)
    add("--hours", metavar="H", type=_number(0.05, 744), default=8.0)
    add("--segments", action="store_true", help="framed segments, as programs write them")
    add("--memberships", action="store_true", help="only who has what, for planning")


def _collect(job: argparse.ArgumentParser) -> None:
    add = job.add_argument
    add("logs", metavar="FOLDER", type=Path, nargs="+", help="folders of event logs")
    add("--landing", metavar="FOLDER", type=Path, required=True, help="where Parquet files go")
    add("--keep", action="store_true", help="leave the segments where they are")
    when = job.add_mutually_exclusive_group()
    when.add_argument("--watch", metavar="S", type=_number(1, 3600), help="go on, every S seconds")
    when.add_argument("--asked", action="store_true", help="go on, for each line of the input")
    add("--room", metavar="MB", type=_whole(1, 1 << 20), help="with --asked: remove older files")


def _landing(job: argparse.ArgumentParser) -> None:
    job.add_argument("landing", metavar="LANDING", help="folder of landed files")
    job.add_argument(
        "--horizon",
        metavar="DAYS",
        type=_number(0.01, 36_500),
        default=31.0,
        help="older records are late, and set aside (%(default)s)",
    )


def _plan(job: argparse.ArgumentParser, *, required: bool) -> None:
    add = job.add_argument
    add("--plan", metavar="FILE", type=Path, required=required, help="where the plan goes")
    add("--last", metavar="FILE", type=Path, help="the plan in use, from which to stay near")
    add("--waste", metavar="PERCENT", type=_number(0, 100), default=4.5, help="(%(default)s)")
    add("--regions", metavar="N", type=_number(1, 1000), default=8.0, help="of a node, mean")
    add("--size-min", metavar="N", type=_whole(1, 10_000), default=3, help="nodes of a region")


def _activity(job: argparse.ArgumentParser) -> None:
    add = job.add_argument
    add("--people", action="store_true", help="timelines, too, of those who agreed to it")
    add("--names", action="store_true", help="with --people: do not hash their names again")
    add("--hints", metavar="FILE", type=Path, help="advice for programs: their state's hints.json")
    add("--retention", metavar="DAYS", type=_number(0.01, 3650), default=30.0, help="(%(default)s)")


def _report(job: argparse.ArgumentParser) -> None:
    job.add_argument("--report", metavar="FILE", type=Path, help="where the HTML page goes")
    job.add_argument("--feed", metavar="FOLDER", type=Path, help="where the desktop's feed goes")


def _spark(job: argparse.ArgumentParser) -> None:
    add = job.add_argument
    add("--master", default="local[*]", help="local[N], spark://HOST:PORT, yarn, k8s://… (local)")
    add("--memory", metavar="SIZE", type=_memory, default="2g", help="of Java (%(default)s)")
    add("--conf", metavar="NAME=VALUE", type=_setting, action="append", default=[])
    add(
        "--ui",
        action=argparse.BooleanOptionalAction,
        help="serve Spark's own page of the run, and say where (in a terminal, on this computer)",
    )


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to {most}")
        return int(text)

    return read


def _number(least: float, most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least:g} to {most:g}")
        return value

    return read


def _sizes(text: str) -> list[int]:
    return [_whole(1000, 1_000_000_000)(part.strip()) for part in text.split(",")]


def _memory(text: str) -> str:
    if not text[:-1].isdigit() or text[-1:] not in ("m", "g") or text[:-1] == "0":
        raise argparse.ArgumentTypeError(f"{text!r} is not a size like 512m or 4g")
    return text


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise argparse.ArgumentTypeError(f"{text!r} is not like spark.name=value")
    return name, value
