"""What the package build makes of a checkout: every package, the engine, the assets."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.source_tree import PACKAGES, ROOT, files

# The parts of the checkout that the package build reads.
BUILD_FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
INIT = "__init__.py"


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in a wheel built from a copy of the source, without the network."""
    checkout = tmp_path_factory.mktemp("checkout")
    for name in BUILD_FILES:
        shutil.copy(ROOT / name, checkout)
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("build", "__pycache__", "_engine*.so")
        shutil.copytree(ROOT / package, checkout / package, ignore=ignored)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    result = subprocess.run(
        [*command, "--disable-pip-version-check", "--wheel-dir", "wheels", "."],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    (wheel,) = Path(checkout, "wheels").glob("live_objects-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_has_every_module(wheel_names: set[str], package: str) -> None:
    # A folder that is no package holds programs for developers.
    paths = [path for path in files(".py", under=ROOT / package) if (path.parent / INIT).exists()]
    modules = {path.relative_to(ROOT).as_posix() for path in paths}
    assert f"{package}/{INIT}" in modules
    assert modules <= wheel_names


def test_wheel_has_the_assets(wheel_names: set[str]) -> None:
    assets = {
        path.relative_to(ROOT).as_posix()
        for path in files(under=ROOT / "assets")
        # These two are for readers of the repository.
        if path.name != "README.md" and path.parent.name != "pictures"
    }
    assert assets
    assert assets <= wheel_names
    assert not [name for name in wheel_names if name.startswith("assets/pictures/")]


def test_wheel_has_the_engine_and_not_its_sources(wheel_names: set[str]) -> None:
    engine = [name for name in wheel_names if name.startswith("native/_engine.")]
    assert sorted(Path(name).suffix for name in engine) == [".pyi", ".so"]
    assert not [name for name in wheel_names if name.endswith((".c", ".h", ".o"))]


def test_wheel_has_nothing_but_the_packages(wheel_names: set[str]) -> None:
    top = {name.split("/")[0] for name in wheel_names}
    assert {name for name in top if not name.endswith(".dist-info")} == set(PACKAGES)
