"""The commands about the network, each as the real process that a person starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.main import main
from app.network_profile import NetworkProfile
from app.paths import find_paths
from tests.app.command_process import ROOT, run, start, until_line
from tests.flow.program import wait_for
from transport.config import Peer
from transport.event_log_schema import Record, read_segment
from transport.scopes import Scope


class Gms:
    """A running `live-objects gms` in a scope of its own, on the loopback interface."""

    def __init__(self, folder: Path, scope: Path, *arguments: str) -> None:
        self.folder = folder
        self.process = start(
            *("gms", "--interface", "127.0.0.1", "--state-dir", str(folder)),
            *("--scope", str(scope), *arguments),
        )

    def says(self, beginning: str) -> str:
        """Waits for a line that begins like this; fails when the process has ended before."""
        return until_line(self.process, beginning)

    def end(self, name: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(name)
        said, complaints = self.process.communicate(timeout=30)
        return self.process.returncode, said, complaints


@pytest.fixture
def invitation(tmp_path: Path) -> Path:
    path = tmp_path / "office.scope"
    Scope.new_private("Office", os.urandom).write(path)
    return path


@pytest.fixture
def gms(tmp_path: Path, invitation: Path) -> Iterator[Gms]:
    running = Gms(tmp_path / "gms", invitation)
    yield running
    running.process.kill()
    running.process.communicate()


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_gms_hosts_is_seen_by_net_and_ends_cleanly(gms: Gms, name: signal.Signals) -> None:
    assert gms.says("host of").startswith("host of the scope Office at lo 127.0.0.1:")
    profile = ("--state-dir", str(gms.folder))
    code, said, complaints = run("net", "--json", *profile)
    assert (code, complaints) == (0, "")
    snapshot = json.loads(said)
    assert (snapshot["scope"], snapshot["health"]) == ("Office", "host")
    code, said, complaints = run("net", "--every", "0.2", *profile)
    assert (code, complaints) == (0, "")
    assert said.startswith("scope Office   node ")
    assert "tokens" in said, "rates are shown"
    assert gms.end(name) == (0, "ended\n", "")
    sockets = list(find_paths({}, gms.folder).runtime.glob("*.gms"))
    assert not sockets
    (segment,) = (gms.folder / "events" / "closed").glob("*.events")
    kinds = {row.kind for row in read_segment(segment.read_bytes())}
    assert kinds >= {Record.SEGMENT, Record.HEALTH, Record.COUNTERS}


def test_net_in_a_terminal_is_drawn_again_and_again(gms: Gms) -> None:
    gms.says("host of")
    master, terminal = os.openpty()
    command = [sys.executable, "-m", "app.main", "net", "--every", "0.1"]
    process = subprocess.Popen(
        [*command, "--state-dir", str(gms.folder)],
        cwd=ROOT,
        stdout=terminal,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(terminal)
    try:
        shown = b""
        while shown.count(b"\x1b[2J") < 3:
            shown += os.read(master, 4096)
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=30)
        assert (process.returncode, complaints) == (0, "")
        assert shown.count(b"scope Office") >= 2
    finally:
        process.kill()
        process.communicate()
        os.close(master)


def test_nobody_reads_the_rest_and_nothing_is_said_of_it(gms: Gms) -> None:
    gms.says("host of the scope Office")
    looking = start("net", "--json", "--state-dir", str(gms.folder))
    assert looking.stdout is not None
    looking.stdout.close()  # As `| head` does when it has seen enough.
    looking.stdout = None
    _, complaints = looking.communicate(timeout=30)
    assert (looking.returncode, complaints) == (141, "")


def test_waiting_for_somebody_can_be_interrupted(tmp_path: Path, invitation: Path) -> None:
    folder = str(tmp_path / "ada")
    assert run("scope", "join", str(invitation), "--state-dir", folder)[0] == 0
    inviting = start(
        *("scope", "invite", "--no-mdns", "--interface", "127.0.0.1", "--state-dir", folder)
    )
    until_line(inviting, "Inviting to the scope Office")
    inviting.send_signal(signal.SIGINT)
    _, complaints = inviting.communicate(timeout=30)
    assert (inviting.returncode, complaints.strip()) == (130, "")


def test_second_gms_joins_the_first_and_takes_over(
    gms: Gms, tmp_path: Path, invitation: Path
) -> None:
    gms.says("host of")
    second = Gms(tmp_path / "second", invitation, "--no-event-log", "--no-mdns")
    try:
        second.says("member, with another host, of")
        gms.end(signal.SIGTERM)
        second.says("host of")
        assert second.end(signal.SIGTERM)[0] == 0
        assert not (second.folder / "events").exists()
    finally:
        second.process.kill()
        second.process.communicate()


def test_gms_that_insists_takes_over_from_a_host_that_stays(
    gms: Gms, tmp_path: Path, invitation: Path
) -> None:
    gms.says("host of")
    insisting = Gms(tmp_path / "insisting", invitation, "--insist")
    try:
        assert insisting.says("host of")
        assert gms.says("member, with another host")
    finally:
        insisting.end(signal.SIGTERM)
    assert gms.says("host of")


def test_second_gms_of_a_profile_is_refused(gms: Gms, invitation: Path) -> None:
    gms.says("host of")
    code, said, complaints = run(
        *("gms", "--state-dir", str(gms.folder), "--scope", str(invitation))
    )
    assert (code, said) == (2, "")
    assert complaints == (
        "live-objects: The same command runs already in this profile: it goes on.\n"
    )


def test_gms_finds_another_by_mdns_and_remembers_it(
    gms: Gms, tmp_path: Path, invitation: Path
) -> None:
    gms.says("host of")
    scope = Scope.read(invitation)
    second = Gms(tmp_path / "second", invitation)
    try:
        paths = find_paths({}, second.folder)
        # The two announce themselves on one interface; each finds the other, not itself.
        (peer,) = wait_for(
            "the first is remembered",
            lambda: NetworkProfile.of(paths).book().peers(scope),
        )
        assert isinstance(peer, Peer)
        address = json.loads(run("net", "--json", "--state-dir", str(gms.folder))[1])["address"]
        assert f"{peer.address}:{peer.port}" == address
    finally:
        second.process.kill()
        second.process.communicate()


def test_known_peer_is_enough_where_there_is_no_multicast(tmp_path: Path, invitation: Path) -> None:
    first = Gms(tmp_path / "one", invitation, "--no-multicast", "--no-mdns")
    second = None
    try:
        address = first.says("host of").split()[-1]
        # As if it had been found before.
        profile = NetworkProfile.of(find_paths({}, tmp_path / "two"))
        profile.peers_file.parent.mkdir()
        profile.book().remember(Scope.read(invitation), [Peer.parse(address)])
        second = Gms(tmp_path / "two", invitation, "--no-multicast", "--no-mdns")
        second.says("member, with another host, of")
    finally:
        for each in (first, second):
            if each is not None:
                each.process.kill()
                each.process.communicate()


def test_doctor_looks_at_this_computer_and_at_what_runs(gms: Gms) -> None:
    gms.says("host of")
    code, said, complaints = run(
        *("doctor", "--json", "--state-dir", str(gms.folder), "--interface", "lo")
    )
    assert complaints == ""
    findings = {finding["subject"]: finding for finding in json.loads(said)}
    assert findings["version"]["verdict"] == "good"
    assert findings["clock"]["verdict"] == "good"
    assert findings["multicast"]["verdict"] == "good"
    assert "Parquet files of events" in findings["event log"]["sentence"]
    assert "alone in its objects" in findings["membership"]["sentence"]
    assert code == 0


def test_doctor_without_a_program_says_so(tmp_path: Path) -> None:
    code, said, _ = run("doctor", "--state-dir", str(tmp_path), "--interface", "nosuch0")
    assert code == 1
    assert "There is no interface nosuch0." in said
    assert "No program runs in this profile" in said


def test_net_without_a_program_is_one_sentence(tmp_path: Path) -> None:
    code, said, complaints = run("net", "--state-dir", str(tmp_path))
    assert (code, said) == (2, "")
    assert complaints.startswith("live-objects: No program runs in this profile:")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["net", "--every", "soon"], "not a number of seconds"),
        (["net", "--every", "0"], "not a number of seconds"),
        (["gms", "--port", "0"], "not a port"),
        (["scope", "invite"], "where everybody is"),
        (["scope", "request", "nowhere"], "not an address"),
        (["scope", "request", "127.0.0.1:1"], "Nobody invites there"),
        (["scope", "request", "--interface", "nosuch0"], "has no interface nosuch0"),
        (["gms", "--peer", "nowhere"], "not an address"),
        (["gms", "--scope", "missing.scope"], "cannot be read"),
        (["gms", "--interface", "nosuch0"], "no network interface"),
        (["scope", "make", ""], "printable characters"),
        (["scope", "join", "missing.scope"], "cannot be read"),
        (["scope", "join", "live-objects-scope:1:Office:abcd"], "mistyped or incomplete"),
    ],
)
def test_each_mistake_is_one_sentence(
    arguments: list[str], part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--state-dir", str(tmp_path)]) == 2
    complaint = capsys.readouterr().err
    assert part in complaint
    assert complaint.endswith(".\n")


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "plan.txt"
    file.write_text(f"live-objects-plan 1\ngroup {'0f' * 16} cluster sales\n")
    return file


def test_gms_takes_a_plan_of_regions(tmp_path: Path, invitation: Path, plan: Path) -> None:
    running = Gms(tmp_path / "gms", invitation, "--plan", str(plan))
    try:
        assert running.says("host of")
    finally:
        code, _, problems = running.end(signal.SIGTERM)
    assert (code, problems) == (0, "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"live-objects-plan 1\ngroup 12 cluster x\n", "is not a plan of regions: make one"),
        (b"\xff\xfe", "is not a plan of regions"),
        (None, "cannot be read"),
    ],
)
def test_gms_refuses_what_is_no_plan(
    tmp_path: Path, invitation: Path, text: bytes | None, sentence: str
) -> None:
    file = tmp_path / "plan.txt"
    if text is not None:
        file.write_bytes(text)
    profile = ("--state-dir", str(tmp_path / "gms"), "--interface", "127.0.0.1")
    code, said, problems = run(
        "gms", *profile, "--scope", str(invitation), "--plan", str(file), "--no-mdns"
    )
    assert (code, said.replace("ended\n", "")) == (2, "")
    assert problems.count("\n") == 1
    assert sentence in problems
