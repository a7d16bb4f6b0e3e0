"""Bad input: one clear sentence in the terminal, exit code 2, nothing half-started; in a window
where there is no terminal."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from app.main import main
from installers.virtual_display import environment_on
from tests.flow.conftest import StartProgram
from tests.flow.program import ROOT, find_window, wait_for, xdotool


def run(
    environment: dict[str, str], folder: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return run_in_terminal([*program_in(folder), *arguments], environment)


def program_in(folder: Path) -> list[str]:
    return [sys.executable, "-m", "app.main", "--state-dir", str(folder / "state")]


def run_in_terminal(
    command: list[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs it where somebody reads what it says."""
    reading, writing = os.openpty()
    try:
        process = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=writing, text=True
        )
        os.close(writing)
        try:
            output, _ = process.communicate(timeout=60)
        finally:
            process.kill()
        errors = ""
        with suppress(OSError):  # nothing was said
            errors = os.read(reading, 65536).decode().replace("\r\n", "\n")
    finally:
        os.close(reading)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def assert_refused(result: subprocess.CompletedProcess[str], part: str) -> None:
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("live-objects: ")
    assert part in lines[0]
    assert lines[0].endswith(".")


@pytest.fixture
def screenless() -> dict[str, str]:
    gone = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    return {name: text for name, text in os.environ.items() if name not in gone}


@pytest.fixture
def note(tmp_path: Path) -> str:
    file = tmp_path / "Note.liveobject"
    assert main(["new", str(file)]) == 0
    return str(file)


def in_own_network(
    prepare: str, command: list[str], display: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command in a network namespace of its own; skips where the user may not make one."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here")
    script = f'{{ {prepare or "true"}; }} || exit 77; exec "$@"'
    result = run_in_terminal(
        ["unshare", "--net", "sh", "-c", script, "sh", *command], environment_on(display)
    )
    if result.returncode == 77 or result.stderr.startswith("unshare"):
        pytest.skip("this user cannot make a network of their own")
    return result


def test_an_unknown_option(screenless: dict[str, str], tmp_path: Path) -> None:
    assert_refused(run(screenless, tmp_path, "--nonsense"), "--nonsense")


def test_a_missing_file(screenless: dict[str, str], tmp_path: Path) -> None:
    result = run(screenless, tmp_path, str(tmp_path / "missing.liveobject"))
    assert_refused(result, "missing.liveobject")
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"plain words",
        b"<html></html>",
        b"\xff\xfe\x00",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>",
    ],
)
def test_a_broken_file(screenless: dict[str, str], tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "broken.liveobject"
    file.write_bytes(content)
    assert_refused(run(screenless, tmp_path, str(file)), "broken.liveobject")
    assert not (tmp_path / "state").exists()


def test_a_folder_in_place_of_a_file(screenless: dict[str, str], tmp_path: Path) -> None:
    assert_refused(run(screenless, tmp_path, str(tmp_path)), str(tmp_path))


def test_no_display(screenless: dict[str, str], tmp_path: Path, note: str) -> None:
    assert_refused(run(screenless, tmp_path, note), "no display")
    assert not (tmp_path / "state").exists()


def test_a_display_that_does_not_answer(screenless: dict[str, str], tmp_path: Path) -> None:
    assert_refused(run({**screenless, "DISPLAY": ":4711"}, tmp_path), ":4711")


def test_a_busy_port(virtual_display: str, tmp_path: Path, note: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("", 0))
        port = holder.getsockname()[1]
        arguments = ("--interface", "127.0.0.1", "--port", str(port), note)
        result = run(environment_on(virtual_display), tmp_path, *arguments)
    assert_refused(result, f"port {port} ")


@pytest.mark.parametrize("interface", ["192.0.2.1", "nosuch0"])
def test_no_such_interface(virtual_display: str, tmp_path: Path, note: str, interface: str) -> None:
    result = run(environment_on(virtual_display), tmp_path, "--interface", interface, note)
    assert_refused(result, "interface")


def test_no_network_at_all(virtual_display: str, tmp_path: Path, note: str) -> None:
    """In a network of its own that has nothing but a loopback that is down."""
    result = in_own_network("", [*program_in(tmp_path), note], virtual_display)
    assert_refused(result, "no network interface that is up")


def test_a_state_folder_that_cannot_be_used(virtual_display: str, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, not a folder")
    assert_refused(run(environment_on(virtual_display), tmp_path), "--state-dir")


def test_a_screenshot_is_written(virtual_display: str, tmp_path: Path, note: str) -> None:
    picture = tmp_path / "picture.png"
    result = run(
        environment_on(virtual_display),
        tmp_path,
        *("--interface", "127.0.0.1", "--screenshot", str(picture), note),
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_a_terminal_a_broken_file_is_told_in_the_window(
    start_program: StartProgram, tmp_path: Path, note: str
) -> None:
    broken = tmp_path / "Broken.liveobject"
    broken.write_text("plain words")
    ada = start_program("Ada", str(broken), note)
    wait_for("the other file is open", lambda: ada.front().get("title") == "Note")
    assert [words.split(".")[0] for words in ada.describe()["failures"]] == ["Broken"]
    # A program that runs takes it over.
    command = [*program_in(tmp_path), str(tmp_path / "missing.liveobject")]
    command[command.index("--state-dir") + 1] = str(ada.folder)
    environment = environment_on(ada.display)
    subprocess.run(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, check=True)
    assert len(ada.describe()["failures"]) == 2


def test_without_a_terminal_a_window_says_why_nothing_starts(
    virtual_display: str, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file, not a folder")
    environment = environment_on(virtual_display)
    with subprocess.Popen(
        program_in(tmp_path), env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            window = wait_for("a window", lambda: find_window(environment, process.pid))
            assert process.poll() is None, "it waits until that has been read"
            wait_for(
                "it has the keyboard",
                lambda: xdotool(environment, "windowactivate", "--sync", window, check=False) == "",
            )
            xdotool(environment, "key", "Escape")
            assert process.wait(60) == 2
        finally:
            process.kill()
        assert process.stderr is not None
        assert "--state-dir" in process.stderr.read()
