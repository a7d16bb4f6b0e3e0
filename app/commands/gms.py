"""`live-objects gms`: a computer that keeps the list of members, without a window.

It is an engine like any other, which may host the membership service and has no objects: when it
is the first of its scope it hosts at once, otherwise it is next when those before it have gone,
unless it was told to insist: then it takes over from whoever hosts when it starts.
Plain asyncio; ends cleanly on SIGTERM and SIGINT.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

from app.commands.arguments import add_state_dir
from app.errors import StartProblem
from app.headless import run_until_ended
from app.headless_network import HeadlessNetwork
from app.line_server import claim
from app.network_profile import NetworkProfile
from app.network_report import gms_socket
from app.network_wishes import NetworkWishes, add_wishes
from app.paths import Paths, find_paths
from transport.config import EngineConfig, Tuning
from transport.engine import Engine
from transport.errors import TransportError
from transport.events import Health, HealthChanged
from transport.policies import Policy
from transport.scopes import Scope
from widgets.language import tr

_PLAN_BYTES_MAX = 16 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_wishes(parser)
    add(
        "--scope",
        metavar="FILE",
        type=Path,
        help=tr("an invitation, instead of the profile's scope"),
    )
    add("--insist", action="store_true", help=tr("take over from whoever keeps the list now"))
    add("--no-multicast", action="store_true", help=tr("send by unicast only"))
    add("--no-mdns", action="store_true", help=tr("neither announce nor search by mDNS"))
    add("--no-event-log", action="store_true", help=tr("write no event log"))
    add(
        "--plan",
        metavar="FILE",
        type=Path,
        help=tr("regions by this plan of live-objects pipeline"),
    )
    add_state_dir(parser)


def run(arguments: argparse.Namespace) -> int:
    arguments.plan_text = None if arguments.plan is None else _read_plan(arguments.plan)
    paths = find_paths(os.environ, arguments.state_dir)
    paths.make()
    claim(gms_socket(paths))
    return run_until_ended(lambda ended: _host(arguments, paths, ended))


async def _host(arguments: argparse.Namespace, paths: Paths, ended: asyncio.Event) -> int:
    profile = NetworkProfile.of(paths)
    scope = profile.scope() if arguments.scope is None else Scope.read(arguments.scope)
    network = HeadlessNetwork(
        gms_socket(paths),
        socket.gethostname,
        # An invitation by a file is nobody's profile: who gave it renews it there.
        cares=arguments.scope is None,
        mdns=not arguments.no_mdns,
        log_events=not arguments.no_event_log,
    )
    engine = Engine.open(_config(arguments, scope, profile))
    try:
        if arguments.plan_text is not None:
            _take_plan(engine, arguments.plan, arguments.plan_text)
        engine.on_health = lambda change: _tell(engine, change)
        async with network.around(engine, profile):
            await ended.wait()
    finally:
        await _depart(engine)
    return 0


def _config(arguments: argparse.Namespace, scope: Scope, profile: NetworkProfile) -> EngineConfig:
    return replace(
        NetworkWishes.of(arguments).config(scope, profile.book().peers(scope)),
        multicast=not arguments.no_multicast,
        insists_to_host=arguments.insist,
        tuning=Tuning(policy=Policy["PLAN"] if arguments.plan is not None else None),
    )


def _read_plan(file: Path) -> str:
    try:
        if file.stat().st_size > _PLAN_BYTES_MAX:
            raise StartProblem(tr("{file} is larger than any plan of regions.", file=file))
        return file.read_bytes().decode("ascii")
    except OSError as problem:
        raise StartProblem(
            tr("{file} cannot be read: {reason}.", file=file, reason=problem.strerror)
        ) from None
    except UnicodeDecodeError:
        raise StartProblem(tr("{file} is not a plan of regions.", file=file)) from None


def _take_plan(engine: Engine, file: Path, text: str) -> None:
    try:
        engine.set_plan(text)
    except TransportError:
        raise StartProblem(
            tr(
                "{file} is not a plan of regions: make one with live-objects pipeline plan.",
                file=file,
            )
        ) from None


async def _depart(engine: Engine) -> None:
    told = await engine.close()
    _say(tr("ended") if told else tr("ended, the others were not told in time"))


def _tell(engine: Engine, change: HealthChanged) -> None:
    told = {
        Health.SEARCHING: tr("looking for others of the scope {scope} at {place}"),
        Health.JOINING: tr("being let into the scope {scope} at {place}"),
        Health.MEMBER: tr("member, with another host, of the scope {scope} at {place}"),
        Health.HOST: tr("host of the scope {scope} at {place}"),
        Health.SUSPENDED: tr("paused, since nobody answers, in the scope {scope} at {place}"),
    }
    if change.health in told:
        info = engine.info()
        place = f"{info.interface} {info.address.text}:{info.address.port}"
        _say(told[change.health].format(scope=engine.config.scope.name, place=place))


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()
