"""A private network whose key is renewed by a command, with programs that run and one that does
not: real processes, each with a profile of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.instance_client import ask
from app.network_profile import NetworkProfile
from app.network_report import gms_socket
from app.paths import find_paths
from tests.app.test_network_commands import run, start
from tests.flow.program import wait_for
from transport.scopes import Scope

Begin = Callable[[str], subprocess.Popen[str]]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Starts a member in the profile of that name."""
    processes: list[subprocess.Popen[str]] = []

    def begun(name: str) -> subprocess.Popen[str]:
        process = start("gms", "--interface", "127.0.0.1", "--state-dir", str(tmp_path / name))
        processes.append(process)
        return process

    yield begun
    for process in processes:
        process.kill()
        process.communicate()


def profile(folder: Path) -> NetworkProfile:
    return NetworkProfile.of(find_paths({}, folder))


def fingerprints(folder: Path) -> set[str]:
    """The members that the running program of a profile knows."""
    answer = ask(gms_socket(find_paths({}, folder)), {"do": "scope-members"}) or {}
    return {member["fingerprint"] for member in answer.get("members", [])}


def test_key_is_renewed_for_those_who_run_and_those_away_without_one_left_out(
    tmp_path: Path, begin: Begin
) -> None:
    office = Scope.new_private("Office", os.urandom)
    names = ("ada", "jun", "mia")
    for name in names:
        profile(tmp_path / name).join(office)
    own = {name: profile(tmp_path / name).identity().fingerprint for name in names}
    processes = {name: begin(name) for name in names}
    for name in names:
        wait_for(
            f"{name} knows everybody",
            lambda folder=tmp_path / name: fingerprints(folder) == set(own.values()),
        )
    processes["jun"].send_signal(signal.SIGTERM)
    assert processes["jun"].wait(30) == 0

    ada = str(tmp_path / "ada")
    code, _, complaint = run("scope", "renew", "--without", "abcd-efgh", "--state-dir", ada)
    assert (code, "Nobody in this network" in complaint) == (2, True)
    code, said, _ = run("scope", "renew", "--without", own["mia"], "--state-dir", ada)
    assert code == 0
    assert said.startswith("Office has a new key.")
    assert own["mia"] not in said
    wait_for("it is written", lambda: profile(tmp_path / "ada").scope().generation == 1)
    renewed = profile(tmp_path / "ada").scope()
    assert renewed.scope_id == office.scope_id

    begin("jun")
    wait_for("the one away follows", lambda: profile(tmp_path / "jun").scope() == renewed)
    assert profile(tmp_path / "mia").scope() == office
    code, said, _ = run("scope", "members", "--state-dir", ada)
    assert {line.split()[0] for line in said.splitlines()} == {own["ada"], own["jun"]}
    assert run("scope", "renew", "--state-dir", ada)[0] == 2  # not twice within a minute


def test_scripts_are_told_why_not(tmp_path: Path, begin: Begin) -> None:
    folder = tmp_path / "ada"
    code, _, complaint = run("scope", "members", "--state-dir", str(folder))
    assert (code, "where everybody is" in complaint) == (2, True)
    profile(folder).join(Scope.new_private("Office", os.urandom))
    code, _, complaint = run("scope", "renew", "--state-dir", str(folder))
    assert (code, "No program runs in this profile" in complaint) == (2, True)
