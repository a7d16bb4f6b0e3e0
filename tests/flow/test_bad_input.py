"""Bad input: one clear sentence on the error stream, exit code 2, nothing half-started."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.main import main
from installers.virtual_display import environment_on
from tests.flow.program import ROOT


def run(
    environment: dict[str, str], folder: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app.main", "--state-dir", str(folder / "state")]
    return subprocess.run(
        [*command, *arguments],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


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
    result = subprocess.run(
        ["unshare", "--net", "sh", "-c", script, "sh", *command],
        env=environment_on(display),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
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


def test_no_multicast_on_the_interface(virtual_display: str, tmp_path: Path, note: str) -> None:
    """In a network of its own, which only the kernel's administrator can make."""
    program = [sys.executable, "-m", "app.main", "--state-dir", str(tmp_path / "state")]
    deaf_link = (
        "ip link add v0 type veth peer name v1 && ip link set v1 up &&"
        " ip link set v0 multicast off && ip link set v0 up && ip addr add 10.9.9.1/24 dev v0"
    )
    result = in_own_network(deaf_link, [*program, "--interface", "v0", note], virtual_display)
    assert_refused(result, "v0 cannot multicast: name another one with --interface.")


def test_no_network_at_all(virtual_display: str, tmp_path: Path, note: str) -> None:
    """In a network of its own that has nothing but a loopback that is down."""
    program = [sys.executable, "-m", "app.main", "--state-dir", str(tmp_path / "state"), note]
    result = in_own_network("", program, virtual_display)
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
