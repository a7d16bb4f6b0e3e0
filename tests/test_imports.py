"""The import contracts: layers point one way, Qt stays in the upper two, Spark in the pipeline."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.source_tree import LAYERS, PACKAGES, ROOT, files, shown

QT = {"PySide6", "shiboken6", "qasync"}
SPARK = {"pyspark"}
QT_PACKAGES = {"widgets", "app"}

# What each package may import of the others.
ALLOWED: dict[str, set[str]] = {
    **{layer: set(LAYERS[:height]) for height, layer in enumerate(LAYERS)},
    "assets": set(),
    "pipeline": set(),
}
# The one exception: how event logs are written and read is said once. It belongs to whoever writes
# them, imports nothing of ours, and so costs a reader neither engine nor window system.
SHARED: dict[str, set[str]] = {"pipeline": {"transport.event_log_schema"}}
ALLOWED["widgets"] |= {"assets"}
ALLOWED["app"] |= {"assets"}


def imported_names(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Line and top-level name of every import, in functions and conditions too."""
    shared = SHARED.get(package, set())
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module in shared and not node.level:
                continue
            # A relative import cannot leave its own top-level package.
            yield node.lineno, package if node.level else (node.module or "").split(".")[0]
        elif isinstance(node, ast.Call) and _calls_import(node.func) and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield node.lineno, name.value.split(".")[0] or package


def _calls_import(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return function.attr == "import_module"
    return isinstance(function, ast.Name) and function.id in {"__import__", "import_module"}


def violations(source: str, package: str) -> list[tuple[int, str]]:
    """The imports in a file of this package that the contracts forbid."""
    forbidden = set(PACKAGES) - ALLOWED[package] - {package}
    forbidden |= {"tests", "installers"}
    if package not in QT_PACKAGES:
        forbidden |= QT
    if package != "pipeline":
        forbidden |= SPARK
    return [found for found in imported_names(source, package) if found[1] in forbidden]


def sources(package: str) -> list[Path]:
    return list(files(".py", ".pyi", under=ROOT / package))


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_what_lies_below_it(package: str) -> None:
    found = [
        f"{shown(path)}:{line} imports {name}"
        for path in sources(package)
        for line, name in violations(path.read_text(encoding="utf-8"), package)
    ]
    assert sources(package), f"{package} has no source files"
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("transport", "import liveobj.host"),
        ("transport", "def later():\n    from widgets import theme"),
        ("liveobj", "if TYPE_CHECKING:\n    from PySide6.QtCore import QObject"),
        ("liveobj", "import importlib\nimportlib.import_module('qasync')"),
        ("native", "__import__('transport')"),
        ("pipeline", "from liveobj import host"),
        ("pipeline", "from transport import event_log_schema, binding"),
        ("pipeline", "import transport.event_log_schema"),
        ("liveobj", "from pipeline.schema import Event"),
        ("app", "import pyspark.sql"),
        ("app", "from tests import conftest"),
    ],
)
def test_forbidden_import_is_noticed(package: str, line: str) -> None:
    assert violations(line, package)


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("app", "from widgets.theme import Theme\nfrom PySide6 import QtCore\nimport transport"),
        ("widgets", "import assets\nimport liveobj"),
        ("transport", "from native import ffi, lib"),
        ("pipeline", "from pyspark.sql import DataFrame"),
        ("pipeline", "from transport.event_log_schema import SCHEMA"),
        ("liveobj", "from . import host"),
    ],
)
def test_allowed_import_is_not_reported(package: str, line: str) -> None:
    assert not violations(line, package)


# Not imported by name: PySide6 needs it beside itself, in the same version.
NEEDED_BY_OTHERS = {"shiboken6"}


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def declared(entries: list[str]) -> set[str]:
    return {plain(re.split(r"[^\w-]", entry, maxsplit=1)[0]) for entry in entries}


def imported_distributions(packages: Iterable[str]) -> set[str]:
    names = {
        name
        for package in packages
        for path in sources(package)
        if path.suffix == ".py"
        for _, name in imported_names(path.read_text(encoding="utf-8"), package)
    }
    foreign = names - set(PACKAGES) - sys.stdlib_module_names
    distributions = packages_distributions()
    return {plain(distributions.get(name, [name])[0]) for name in foreign}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    imported = imported_distributions(set(PACKAGES) - {"pipeline"})
    assert imported | NEEDED_BY_OTHERS == declared(PROJECT["dependencies"])


def test_what_the_pipeline_imports_is_declared_as_its_own() -> None:
    imported = imported_distributions(["pipeline"])
    wanted = declared(PROJECT["optional-dependencies"]["pipeline"])
    # Spark imports pandas by itself; the benchmark's rival is a tool for developers.
    assert imported | {"pandas"} == wanted | {"duckdb"}
    assert "duckdb" in declared(PROJECT["optional-dependencies"]["dev"])


def plain(distribution: str) -> str:
    """The name of a distribution in the one spelling that all its spellings have in common."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@pytest.mark.parametrize("package", ["native", "transport", "liveobj", "assets"])
def test_importing_a_lower_layer_loads_neither_qt_nor_spark(package: str) -> None:
    program = f"""
import importlib, pkgutil, sys
package = importlib.import_module({package!r})
for module in pkgutil.walk_packages(package.__path__, {package!r} + "."):
    # A module that is a program, or runs at build time, is not imported by anybody.
    if module.name.rsplit(".", 1)[-1] not in ("__main__", "build_engine"):
        importlib.import_module(module.name)
print(*sorted({{name.split(".")[0] for name in sys.modules}} & {QT | SPARK!r}))
"""
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []


def test_application_starts_without_java_and_without_the_packages_of_the_pipeline() -> None:
    foreign = {"pyspark", "py4j", "pyarrow", "pandas", "numpy", "duckdb"}
    program = f"""
import sys
for name in {foreign!r}:
    sys.modules[name] = None
import app.main, app.program
from app.commands import COMMANDS
for entry in COMMANDS.values():
    entry.load()
print(*(name for name in sys.modules if name.split(".")[0] == "pipeline"))
"""
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PATH": "", "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []


def test_the_shared_module_brings_nothing_of_ours_with_it() -> None:
    (module,) = {name for names in SHARED.values() for name in names}
    program = f"import sys, {module}; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    ours = {name for name in result.stdout.split() if name.split(".")[0] in PACKAGES}
    assert ours == {module.split(".")[0], module}
