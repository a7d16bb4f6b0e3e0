"""The command line: what is understood, and one sentence for what is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.command_line import parse
from app.commands import COMMANDS
from app.errors import StartProblem
from app.main import main
from app.network_wishes import NetworkWishes
from liveobj.references import read_reference_file
from liveobj.references.makers import maker_of
from transport.config import Peer
from widgets.language import set_language
from widgets.roles import PERSON_COLOURS, Mode


def test_everything_together() -> None:
    options = parse(
        [
            *("a.liveobject", "b.liveobject", "--interface", "127.0.0.1", "--port", "4000"),
            *("--state-dir", "here", "--name", " Ada ", "--colour", "Ocean", "--theme", "dark"),
            *("--screenshot", "x.png", "--size", "900x600", "--peer", "10.0.0.7:4001"),
        ]
    )
    assert options.files == (Path("a.liveobject"), Path("b.liveobject"))
    assert options.network == NetworkWishes("127.0.0.1", 4000, (Peer("10.0.0.7", 4001),))
    assert (options.name, options.theme) == ("Ada", Mode.DARK)
    assert options.colour == PERSON_COLOURS[1].light
    assert options.state_dir == Path("here")
    assert options.screenshot == Path("x.png")
    assert options.size == (900, 600)


def test_nothing_is_fine_too() -> None:
    options = parse([])
    assert options.files == ()
    assert options.theme is None


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--wrong"], "--wrong"),
        (["--port", "0"], "'0' is not a port"),
        (["--port", "http"], "'http' is not a port"),
        (["--port", "-5"], "--port"),
        (["--port", "65536"], "from 1 to 65535"),
        (["--peer", "10.0.0.7"], "'10.0.0.7' is not an address"),
        (["--peer", "somewhere:80"], "'somewhere' is not an IP address"),
        (["--theme", "pink"], "'pink' is not light, dark or system"),
        (["--colour", "red"], "'red' is neither like #1a2b3c"),
        (["--name", ""], "a name has"),
        (["--size", "big"], "'big' is not a size like 1000x700"),
        (["--name", "x" * 101], "a name has"),
        (["--screen", "x.png"], "--screen"),
    ],
)
def test_each_mistake_is_one_sentence(arguments: list[str], part: str) -> None:
    with pytest.raises(StartProblem) as problem:
        parse(arguments)
    sentence = str(problem.value)
    assert part in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_help_and_version_exit_well(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--help", "--version"):
        with pytest.raises(SystemExit) as ending:
            main([option])
        assert ending.value.code == 0
    output = capsys.readouterr().out
    assert all(name in output for name in COMMANDS)


def test_new_inspect_and_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "Plan.liveobject"
    assert main(["new", str(file)]) == 0
    assert main(["inspect", str(file)]) == 0
    output = capsys.readouterr().out
    assert "title = 'Plan'" in output
    assert "rights    can edit" in output
    assert "signed by nobody" not in output
    assert main(["check", str(file)]) == 0
    assert "in order" in capsys.readouterr().out
    assert main(["new", str(file)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_new_is_signed_by_the_profile_as_the_window_signs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, profile = tmp_path / "Plan.liveobject", ["--state-dir", str(tmp_path / "ada")]
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "settings.json").write_text('{"name": "Ada"}')
    assert main(["new", str(file), *profile]) == 0
    capsys.readouterr()
    assert main(["identity", *profile]) == 0
    fingerprint = capsys.readouterr().out.splitlines()[0]
    maker = maker_of(read_reference_file(file))
    assert maker is not None
    assert (maker.name, maker.fingerprint) == ("Ada", fingerprint)


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LANGUAGE", "de")
    yield
    set_language("en")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["--help"],
            ["Aufruf: live-objects [DATEI …]", "Optionen:", "zeigt diese Hilfe", "Befehle"],
        ),
        (["scope", "--help"], ["ein neues privates Netz anlegen", "Argumente:"]),
        (["--wrong"], ["Unbekannte Argumente: --wrong: siehe live-objects --help."]),
        (["--port", "x"], ["Argument --port: 'x' ist kein Port von 1 bis 65535"]),
        (["new"], ["Diese Argumente fehlen: FILE"]),
        (["describe", "--state-dir", "nowhere"], ["läuft das Programm nicht"]),
    ],
)
def test_the_command_line_speaks_german(
    arguments: list[str],
    parts: list[str],
    german: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with suppress(SystemExit):
        assert main(arguments) == 2
    output = "".join(capsys.readouterr())
    for part in parts:
        assert part in output


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["inspect", "missing.liveobject"], "missing.liveobject"),
        (["check", "missing.liveobject"], "missing.liveobject"),
        (["inspect"], "live-objects inspect --help"),
        (["new", "no/such/folder/x.liveobject"], "cannot be written"),
        (["describe", "--state-dir", "nowhere"], "not running"),
        (["missing.liveobject"], "missing.liveobject"),
        (["--screenshot", "no/such/folder/x.png"], "its folder does not exist"),
    ],
)
def test_commands_refuse_in_one_sentence(
    arguments: list[str],
    part: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("live-objects: ")
    assert part in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
