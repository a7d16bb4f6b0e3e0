"""Set-up on machines that lack something: one sentence that says what to do, and exit code 2.

Each test runs setup.sh with a PATH on which only chosen programs exist, some of them stand-ins.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.source_tree import ROOT

SETUP = ROOT / "installers" / "setup.sh"
# What the script itself is made of.
TOOLS = ("bash", "awk", "cat", "cut", "dirname", "env", "mkdir", "mktemp", "rm", "tr")

Machine = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Runs setup.sh on a machine that has `TOOLS` and the given programs: name → shell commands."""

    def run(
        *arguments: str, programs: dict[str, str], **environment: str
    ) -> subprocess.CompletedProcess[str]:
        for name in TOOLS:
            found = shutil.which(name)
            assert found is not None
            (tmp_path / name).symlink_to(found)
        for name, commands in programs.items():
            program = tmp_path / name
            program.write_text(f"#!{shutil.which('bash')}\n{commands}\n", encoding="utf-8")
            program.chmod(0o755)
        return subprocess.run(
            [SETUP, *arguments],
            env={"PATH": str(tmp_path), "HOME": str(tmp_path), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def installed(*names: str) -> str:
    """A dpkg-query that knows these packages; `real=virtual` provides another name."""
    lines = []
    for name in names:
        package, _, provided = name.partition("=")
        lines.append(f"echo 'installed {package} {provided}'")
    return "\n".join([*lines, "echo 'config-files xvfb '"])


def listed(section: str) -> list[str]:
    """The package names of one section of the list."""
    names: list[str] = []
    inside = False
    text = (ROOT / "installers" / "debian-packages.txt").read_text(encoding="utf-8")
    for line in (line.partition("#")[0].strip() for line in text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{section}]"
        elif line and inside:
            names.append(line)
    return names


def assert_one_sentence(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("live-objects: ")


NOT_ROOT = "echo 1000"
ROOT_USER = "echo 0"
REFUSES = "exit 1"
REFUSES_AND_FAILS_THE_TEST = "echo 'apt-get was called' >&2; exit 9"


def test_system_without_apt_gets_the_list(machine: Machine) -> None:
    result = machine("packages", "runtime", "screen", programs={})
    assert_one_sentence(result)
    assert "no apt-get" in result.stderr
    for name in [*listed("runtime"), *listed("screen")]:
        assert f" {name}" in result.stderr


def test_system_without_apt_can_be_taken_as_it_is(machine: Machine) -> None:
    assert machine("packages", "runtime", programs={}, SYSTEM_PACKAGES="skip").returncode == 0


@pytest.mark.parametrize("sudo", [{}, {"sudo": REFUSES}])
def test_refused_root_gets_the_missing_packages(machine: Machine, sudo: dict[str, str]) -> None:
    present = listed("screen")[1:]
    programs = {
        "apt-get": REFUSES_AND_FAILS_THE_TEST,
        "dpkg-query": installed(*present),
        "id": NOT_ROOT,
        **sudo,
    }
    result = machine("packages", "screen", programs=programs)
    assert_one_sentence(result)
    assert result.stderr.rstrip().endswith(f"--no-install-recommends {listed('screen')[0]}")


def test_nothing_is_asked_for_when_everything_is_there(machine: Machine) -> None:
    programs = {
        "apt-get": REFUSES_AND_FAILS_THE_TEST,
        "dpkg-query": installed(*listed("runtime")),
        "id": NOT_ROOT,
    }
    result = machine("packages", "runtime", programs=programs)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_provided_name_counts_as_installed(machine: Machine) -> None:
    others = [name for name in listed("runtime") if name != "libglib2.0-0"]
    renamed = "libglib2.0-0t64=libglib2.0-0 (= 2.80.0-6), libother"
    programs = {
        "apt-get": REFUSES_AND_FAILS_THE_TEST,
        "dpkg-query": installed(renamed, *others),
        "id": NOT_ROOT,
    }
    assert machine("packages", "runtime", programs=programs).returncode == 0


def test_root_installs_only_what_is_missing(machine: Machine, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    programs = {
        "apt-get": f'echo "$*" >> {calls}',
        "dpkg-query": installed(*listed("runtime")[2:]),
        "id": ROOT_USER,
    }
    assert machine("packages", "runtime", programs=programs).returncode == 0
    update, install = calls.read_text(encoding="utf-8").splitlines()
    assert update.startswith("update")
    assert install.split()[-2:] == listed("runtime")[:2]


def test_old_python_gets_a_newer_one_beside_it(machine: Machine, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    programs = {
        "apt-get": f'echo "$*" >> {calls}',
        "dpkg-query": installed(*listed("build")),
        "id": ROOT_USER,
        "python3": "exit 1",
    }
    assert machine("packages", "build", programs=programs).returncode == 0
    assert "python3.11-venv" in calls.read_text(encoding="utf-8")


def test_failing_apt_is_one_sentence(machine: Machine) -> None:
    programs = {"apt-get": REFUSES, "dpkg-query": installed(), "id": ROOT_USER}
    result = machine("packages", "screen", programs=programs)
    assert_one_sentence(result)


def test_no_compiler_is_one_sentence(machine: Machine) -> None:
    result = machine("python", programs={})
    assert_one_sentence(result)
    assert "C compiler" in result.stderr


def test_no_libsodium_is_one_sentence(machine: Machine) -> None:
    result = machine("engine", programs={"cc": "exit 0", "pkg-config": "exit 1"})
    assert_one_sentence(result)
    assert "libsodium" in result.stderr


def test_no_clang_is_one_sentence(machine: Machine) -> None:
    result = machine("fuzzer", programs={}, SYSTEM_PACKAGES="skip")
    assert_one_sentence(result)
    assert "clang" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["everything"]])
def test_unknown_step_is_one_sentence(machine: Machine, arguments: list[str]) -> None:
    assert_one_sentence(machine(*arguments, programs={}))


def test_ci_runs_lint_and_all_tests_and_nothing_else() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec make lint test"
