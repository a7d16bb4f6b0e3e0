"""The commands about the network, each as the real process that a person starts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.commands.scope import qr_text
from app.errors import StartProblem
from app.main import main
from app.network_profile import NetworkProfile
from app.paths import find_paths
from tests.flow.program import wait_for
from transport.config import Peer
from transport.event_log_schema import Record, read_segment
from transport.scopes import NEARBY, Scope

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "app.main", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until_line(process: subprocess.Popen[str], beginning: str) -> str:
    """The next line that begins like this; fails when the process has ended before."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(beginning):
            return line
    assert process.stderr is not None
    raise AssertionError(f"never said {beginning!r}: {process.stderr.read()}")


def run(*arguments: str, typed: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "app.main", *arguments],
        cwd=ROOT,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


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


# Scopes


def test_scope_is_made_shown_joined_and_left(tmp_path: Path) -> None:
    file, profile = tmp_path / "team.scope", ("--state-dir", str(tmp_path / "profile"))
    code, said, complaints = run("scope", "make", "Team Ü", "--file", str(file))
    assert (code, said, complaints) == (0, f"{file}\n", "")
    assert file.stat().st_mode & 0o077 == 0
    code, said, _ = run("scope", *profile)
    assert said.startswith("Nearby\n  kind        open to everybody\n")
    code, said, _ = run("scope", *profile, "join", str(file))
    assert (code, said.split(".")[0]) == (0, "This profile is in the scope Team Ü now")
    code, said, _ = run("scope", *profile, "show", "--invitation")
    assert Scope.read(file).invitation() in said
    paths = find_paths({}, tmp_path / "profile")
    assert NetworkProfile.of(paths).scope() == Scope.read(file)
    assert NetworkProfile.of(paths).scope_file.stat().st_mode & 0o077 == 0
    code, said, _ = run("scope", *profile, "leave")
    assert code == 0
    assert NetworkProfile.of(paths).scope() == NEARBY


def test_scope_that_came_with_the_program_is_joined_and_can_be_left(tmp_path: Path) -> None:
    scope = Scope.from_key("Our office", bytes(range(32)))
    given = tmp_path / "etc" / "live-objects" / "scope"
    given.parent.mkdir(parents=True)
    scope.write(given)
    given.chmod(0o644)
    environment = {"XDG_CONFIG_DIRS": f"relative:{tmp_path / 'none'}:{tmp_path / 'etc'}"}
    profile = NetworkProfile.of(find_paths(environment, tmp_path / "profile"))
    assert profile.scope() == scope
    profile.leave()
    assert profile.scope() == NEARBY
    profile.join(scope)
    assert profile.scope() == scope
    given.write_text("rubbish")
    profile.scope_file.unlink()
    with pytest.raises(StartProblem, match="scope leave"):
        profile.scope()
    profile.leave()
    assert profile.scope() == NEARBY


def test_two_who_compare_their_code_share_a_scope(tmp_path: Path) -> None:
    invitation = run("scope", "make", "Office")[1].strip()
    folders = {name: tmp_path / name for name in ("ada", "jun")}
    run("scope", "join", invitation, "--state-dir", str(folders["ada"]))
    common = ("--interface", "lo", "--name")
    # On this computer others may invite at the same time, under other names.
    name = f"Ada {os.urandom(4).hex()}"
    ada = start("scope", "invite", *common, name, "--state-dir", str(folders["ada"]))
    place = until_line(ada, "  live-objects scope request ").split()[-1]
    for answer, way in (("n", [place]), ("y", ["--from", name])):  # The second time, by mDNS.
        jun = start("scope", "request", *way, *common, "Jun", "--state-dir", str(folders["jun"]))
        codes = [until_line(each, "    ").strip() for each in (ada, jun)]
        assert codes[0] == codes[1]
        for each in (jun, ada):
            assert each.stdin is not None
            each.stdin.write(answer + "\n")
            each.stdin.flush()
        said, complaints = jun.communicate(timeout=30)
        if answer == "n":
            assert "Nothing was joined." in complaints
            assert run("scope", "--state-dir", str(folders["jun"]))[1].startswith("Nearby")
    assert "This profile is in the scope Office now." in said
    assert "Jun is in the scope Office now." in ada.communicate(timeout=30)[0]
    shown = run("scope", "show", "--invitation", "--state-dir", str(folders["jun"]))[1]
    assert invitation in shown


def test_invitation_is_taken_as_text_and_from_the_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = ["scope", "--state-dir", str(tmp_path)]
    assert main(["scope", "make", "Team"]) == 0
    text = capsys.readouterr().out.strip()
    assert main([*profile, "join", text]) == 0
    assert NetworkProfile.of(find_paths({}, tmp_path)).scope() == Scope.from_invitation(text)
    code, said, _ = run("scope", "show", "-", typed=text)
    assert (code, said.split("\n")[0]) == (0, "Team")
    assert text not in said, "the secret is shown only when it is asked for"


def test_identity_is_made_once_kept_private_and_refused_when_others_can_read_it(
    tmp_path: Path,
) -> None:
    profile = ("--state-dir", str(tmp_path))
    code, said, _ = run("identity", *profile)
    fingerprint = said.splitlines()[0]
    assert (code, run("identity", *profile)[1]) == (0, said)
    assert re.fullmatch(r"([a-z2-9]{4}-){3}[a-z2-9]{4}", fingerprint)
    file = find_paths({}, tmp_path).config / "identity"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    code, said, complaint = run("identity", *profile)
    assert (code, said) == (2, "")
    assert "make it private" in complaint


def test_damaged_scope_of_a_profile_is_one_sentence(tmp_path: Path) -> None:
    profile = NetworkProfile.of(find_paths({}, tmp_path))
    profile.scope_file.write_text("rubbish")
    with pytest.raises(StartProblem, match="scope leave"):
        profile.scope()


def test_qr_code_is_a_square_of_half_blocks() -> None:
    lines = qr_text(NEARBY).rstrip("\n").split("\n")
    assert len({len(line) for line in lines}) == 1
    assert abs(len(lines) * 2 - len(lines[0])) <= 1
    assert set("".join(lines)) <= set(" █▀▄")


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
