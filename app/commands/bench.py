"""`live-objects bench python`: how many messages a second reach Python callbacks, beside others."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from transport.bench import SECONDS, as_json, as_table, measure_all, raw_limit

_RAW_PROGRAM = Path(__file__).resolve().parents[2] / "native" / "build" / "bench" / "raw_udp"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["python"], help="what is measured")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each figure")
    parser.add_argument(
        "--seconds", metavar="S", type=_seconds, default=SECONDS, help="for each of the systems"
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="systems with this in the name")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= 60:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0.5 to 60")
    return value


def run(arguments: argparse.Namespace) -> int:
    results = []
    for result in measure_all(arguments.seconds, arguments.only):
        results.append(result)
        if arguments.json:
            sys.stdout.write(json.dumps(as_json(result)) + "\n")
            sys.stdout.flush()
    limits = raw_limit(_RAW_PROGRAM, arguments.seconds) if not arguments.only else []
    if arguments.json:
        for limit in limits:
            sys.stdout.write(json.dumps({"system": "raw UDP", **limit}) + "\n")
        return 0
    sys.stdout.write(as_table(results))
    for limit in limits:
        sys.stdout.write(f"raw UDP: {json.dumps(limit)}\n")
    return 0
