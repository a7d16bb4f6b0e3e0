"""`live-objects doctor`: why another computer is not seen, and what to do about it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence

from app.collecting import check_collecting
from app.commands.arguments import add_interface, add_peers, add_state_dir
from app.network_profile import NetworkProfile
from app.network_report import DOCTOR_REQUEST, ask_running
from app.paths import Paths, find_paths
from app.settings import load_settings
from app.version import VERSION
from transport.config import Peer
from transport.discovery import find_all
from transport.doctor import (
    check_clock,
    check_identity,
    check_mdns,
    check_neighbours,
    check_version,
    examine,
    mdns_refused,
)
from transport.errors import TransportError
from transport.findings import Finding, Verdict, as_json, as_text
from transport.links import Kind, Link, best_link, list_links
from transport.peer_book import choose_peers
from transport.probe import check_others_multicast, judge_peers, try_peer
from transport.scopes import Scope, scope_label
from transport.snapshots import Snapshot
from widgets.language import tr

EXIT_SOMETHING_WRONG = 1
PEERS_TRIED_MAX = 4
# Longer than mDNS keeps from saying the same again.
FIND_S = 1.5
# By then the program has found out what the paths to others carry.
PATHS_S = 3.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_interface(parser, tr("the interface to look at, by name"))
    add_peers(parser, tr("a computer to try, as live-objects net shows it there"))
    parser.add_argument("--json", action="store_true", help=tr("print the findings as JSON"))
    add_state_dir(parser, tr("the profile whose program is asked"))


def run(arguments: argparse.Namespace) -> int:
    paths = find_paths(os.environ, arguments.state_dir)
    profile = NetworkProfile.of(paths)
    scope = profile.scope()
    running = ask_running(paths, DOCTOR_REQUEST)
    findings = asyncio.run(_examine(arguments.interface, scope, running, arguments.peer, paths))
    findings.append(check_identity(NetworkProfile.of(paths).identity_file))
    if running is None:
        findings.append(
            Finding(
                "program",
                Verdict.ODD,
                tr("No program runs in this profile, so only this computer was looked at."),
                tr("Start it, or live-objects gms, and ask again."),
            )
        )
    logged = load_settings(paths.settings).event_log
    findings.append(check_collecting(profile.events, wanted=logged))
    if arguments.json:
        json.dump(as_json(findings), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(as_text(findings))
    wrong = any(finding.verdict is Verdict.BAD for finding in findings)
    return EXIT_SOMETHING_WRONG if wrong else 0


async def _examine(
    wanted: str,
    scope: Scope,
    running: tuple[str, Snapshot] | None,
    typed: Sequence[Peer],
    paths: Paths,
) -> list[Finding]:
    version, snapshot = running if running is not None else (None, None)
    asked_s = time.monotonic()
    if snapshot is not None:
        wanted = wanted or snapshot.interface
    links = list_links()
    chosen = [link for link in links if wanted in {link.name, link.address}]
    link = best_link(chosen if wanted else links)
    others: list[Finding] = []
    reached = 0
    if link is not None:
        others, reached = await _try_others(scope, link, links, snapshot, typed)
    if snapshot is not None and snapshot.health in {"member", "host"}:
        await asyncio.sleep(asked_s + PATHS_S - time.monotonic())
        later = ask_running(paths)
        snapshot = later[1] if later is not None else snapshot
    findings = await examine(links, wanted, snapshot, reached) + others
    findings.append(check_clock(time.time()))
    if version is not None:
        findings.append(check_version(version, VERSION))
    return findings


async def _try_others(
    scope: Scope,
    link: Link,
    links: Sequence[Link],
    snapshot: Snapshot | None,
    typed: Sequence[Peer],
) -> tuple[list[Finding], int]:
    """What is found out together with other computers: those typed, and those announced; and how
    many of them let this one in."""
    own = snapshot.address if snapshot is not None else ""
    findings: list[Finding] = []
    found: list[Peer] | None = None
    try:
        announced = [
            each
            for each in await find_all(link.address, find_s=FIND_S)
            if f"{each.peer.address}:{each.peer.port}" != own
        ]
    except TransportError as problem:
        findings.append(mdns_refused(problem))
    else:
        found = [each.peer for each in announced if each.texts.get("scope") == scope_label(scope)]
        if announced:
            findings.append(check_neighbours(scope, [each.texts for each in announced], snapshot))
    peers = choose_peers(typed, found or ())[:PEERS_TRIED_MAX]
    tried = await asyncio.gather(*(try_peer(scope, link.address, peer) for peer in peers))
    reached = sum(each.let_in for each in tried)
    if found is not None:
        findings.append(check_mdns(scope, link.address, found, snapshot, reached))
    findings += judge_peers(tried, link, links)
    if snapshot is not None and snapshot.multicast and link.kind is not Kind.LOOPBACK:
        group, _, port = snapshot.multicast.rpartition(":")
        heard = await check_others_multicast(group, int(port), link)
        # While nobody shares anything, only whoever keeps the list has something to say to all.
        quiet = snapshot.health == "host" and len(snapshot.nodes) < 2
        if heard.verdict is Verdict.GOOD or not quiet:
            findings.append(heard)
    return findings, reached
