"""Owns unpacking a trusted package and importing it, which declares its objects.

An imported package has the rights of this program: Python code cannot be confined inside a process.
That is why nothing is imported before it was signed, checked, and agreed to. One that says that it
can be confined is imported in a process of its own instead (`liveobj.confinement`).
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from liveobj.packages.building import file_hash
from liveobj.packages.errors import PackageProblem
from liveobj.packages.reading import Package
from transport.sentences import worded
from transport.whole_file import remove_leftovers, write_whole

MODULE_PREFIX = "live_package_"


def unpack(package: Package, folder: Path) -> Path:
    """Writes the files under `folder`, in a place of their own; what is there already is
    compared. Raises PackageProblem."""
    place = folder / f"{package.manifest.name}-{package.digest[:16]}"
    try:
        for path, data in package.files.items():
            target = place / path
            if target.is_file() and file_hash(target.read_bytes()) == package.manifest.files[path]:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(target.parent)
            write_whole(target, data)
    except OSError as problem:
        raise PackageProblem(
            worded("The disk refuses: {reason}.", reason=problem.strerror)
        ) from problem
    return place


def module_name(package: Package) -> str:
    return f"{MODULE_PREFIX}{package.manifest.name}_{package.digest[:16]}"


def load(package: Package, folder: Path) -> None:
    """Imports the package, once; its classes declare themselves."""
    name = module_name(package)
    if name in sys.modules:
        return
    place = unpack(package, folder)
    spec = importlib.util.spec_from_file_location(
        name, place / "__init__.py", submodule_search_locations=[str(place)]
    )
    if spec is None or spec.loader is None:
        raise PackageProblem(worded("“{title}” cannot be imported.", title=package.manifest.title))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as problem:
        del sys.modules[name]
        if not isinstance(problem, Exception):
            raise
        raise PackageProblem(
            worded(
                "“{title}” cannot be started: {kind}: {reason}",
                title=package.manifest.title,
                kind=type(problem).__name__,
                reason=problem,
            )
        ) from problem
