"""The commands about scopes and identities, as a person uses them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from app.commands.scope import qr_text
from app.errors import StartProblem
from app.main import main
from app.network_profile import NetworkProfile
from app.paths import find_paths
from tests.app.command_process import run, start, until_line
from transport.scopes import NEARBY, Scope


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
