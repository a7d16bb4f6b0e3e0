"""The network of real windows, as its commands tell it from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from app.main import main
from app.network_profile import NetworkProfile
from app.paths import find_paths
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, Program, wait_for
from transport.event_log_schema import Record, read_segment
from transport.scopes import NEARBY


def net(program: Program) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "app.main", "net", "--json", "--state-dir", str(program.folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def test_windows_are_seen_by_net_remember_each_other_and_keep_a_log(
    start_program: StartProgram, tmp_path: Path
) -> None:
    note = tmp_path / "Shared.liveobject"
    assert main(["new", str(note)]) == 0
    programs = [start_program(name, str(note)) for name in ("Ada", "Jun")]

    def together() -> bool:
        return any(len(group["members"]) == 2 for group in net(programs[0])["groups"])

    wait_for("net shows two members of the note", together)

    def named() -> bool:
        return set(net(programs[0])["people"].values()) == {"Ada", "Jun"}

    wait_for("net knows who is here", named)
    titles = {group["title"] for group in net(programs[0])["groups"]}
    assert titles >= {"people near"}
    assert len(titles) == 2
    addresses = [net(program)["address"] for program in programs]
    for program, other in zip(programs, reversed(addresses), strict=True):
        profile = NetworkProfile.of(find_paths({}, program.folder))

        def remembered(profile: NetworkProfile = profile, other: str = other) -> bool:
            peers = profile.book().peers(NEARBY)
            return other in [f"{peer.address}:{peer.port}" for peer in peers]

        wait_for("the other is found by mDNS and remembered", remembered)
    programs[0].process.terminate()
    assert programs[0].process.wait(30) == 0
    segments = sorted((programs[0].folder / "events" / "closed").glob("*.events"))
    rows = [row for segment in segments for row in read_segment(segment.read_bytes())]
    assert {row.kind for row in rows} >= {Record.SEGMENT, Record.HEALTH, Record.VIEW}
