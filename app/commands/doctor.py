"""`live-objects doctor`: why another computer is not seen, and what to do about it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from pathlib import Path

from app.network_profile import NetworkProfile
from app.network_report import ask_running
from app.paths import find_paths
from app.version import VERSION
from transport.commands import Snapshot
from transport.doctor import (
    Finding,
    Verdict,
    as_json,
    as_text,
    check_clock,
    check_mdns,
    check_version,
    examine,
)
from transport.links import best_link, list_links
from transport.scopes import Scope

EXIT_SOMETHING_WRONG = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--interface", metavar="ADDR", default="", help="the interface to look at, by name"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--state-dir", metavar="DIR", type=Path, help="the profile whose program is asked"
    )


def run(arguments: argparse.Namespace) -> int:
    paths = find_paths(os.environ, arguments.state_dir)
    scope = NetworkProfile.of(paths).scope()
    running = ask_running(paths)
    findings = asyncio.run(_examine(arguments.interface, scope, running))
    if running is None:
        findings.append(
            Finding(
                "program",
                Verdict.ODD,
                "No program runs in this profile, so only this computer was looked at.",
                "Start it, or live-objects gms, and ask again.",
            )
        )
    if arguments.json:
        json.dump(as_json(findings), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(as_text(findings))
    wrong = any(finding.verdict is Verdict.BAD for finding in findings)
    return EXIT_SOMETHING_WRONG if wrong else 0


async def _examine(
    wanted: str, scope: Scope, running: tuple[str, Snapshot] | None
) -> list[Finding]:
    version, snapshot = running if running is not None else (None, None)
    if snapshot is not None:
        wanted = wanted or snapshot.interface
    links = list_links()
    findings = await examine(links, wanted, snapshot)
    chosen = [link for link in links if wanted in {link.name, link.address}]
    link = best_link(chosen if wanted else links)
    if link is not None:
        findings.append(await check_mdns(scope, link.address, snapshot))
    findings.append(check_clock(time.time()))
    if version is not None:
        findings.append(check_version(version, VERSION))
    return findings
