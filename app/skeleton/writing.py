"""Owns the files of a new kind in a checkout: all of them are written, or none.

Everything that can be wrong is found before the first file is touched; when the disk then refuses,
what was written is removed and what was changed is put back.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from string import Template

from app.errors import StartProblem
from app.skeleton.kind_names import KindNames
from app.skeleton.registering import NotRegistrable, with_entry, with_import
from transport.whole_file import export_rights, export_whole, write_whole
from widgets.language import tr

TEMPLATES = "app/skeleton/templates"
CATALOGUE = "liveobj/objects/catalogue.py"
KINDS = "widgets/kinds.py"
_PARTS = ("object.py", "package.py", "view.py", "sample.py", "test.py", "drawing.svg")


@dataclass(frozen=True, slots=True)
class Writing:
    """What will be in which file, by paths from the top of the checkout."""

    root: Path
    new: Mapping[str, str]
    changed: Mapping[str, str]

    def write(self) -> None:
        """Raises StartProblem, with everything as it was, if the disk refuses."""
        before: dict[Path, str] = {}
        made: list[Path] = []
        try:
            for name in self.changed:
                before[self.root / name] = (self.root / name).read_text(encoding="utf-8")
            for name, text in self.new.items():
                file = self.root / name
                _make_folder(file.parent, made)
                write_whole(file, text.encode(), rights=export_rights(file), replace=False)
                made.append(file)
            for name, text in self.changed.items():
                export_whole(self.root / name, text.encode())
        except OSError as problem:
            _put_back(before, made)
            raise StartProblem(
                tr(
                    "Nothing was written: {reason} ({file}).",
                    reason=problem.strerror,
                    file=problem.filename,
                )
            ) from None


def plan_kind(root: Path, names: KindNames) -> Writing:
    """The files of a kind with those names. Raises StartProblem if the folder is no checkout, or a
    name is in use there."""
    templates = _read_templates(root)
    _check_id(root, names.template_id)
    new = {
        f"liveobj/objects/{names.module}.py": "object.py",
        f"widgets/{names.module}/__init__.py": "package.py",
        f"widgets/{names.module}/{names.module}_view.py": "view.py",
        f"app/samples/{names.module}.py": "sample.py",
        f"assets/objects/{names.word}.svg": "drawing.svg",
        f"tests/widgets/{names.module}/test_{names.module}_view.py": "test.py",
    }
    # A module of that name beside the folder would be hidden by it.
    for name in (f"widgets/{names.module}.py", f"liveobj/objects/{names.module}", *new):
        if (root / name).exists():
            raise StartProblem(tr("{path} exists already. Choose another name.", path=name))
    if not (root / "assets/icons" / f"{names.icon}.svg").is_file():
        raise StartProblem(tr("There is no icon {icon} in assets/icons.", icon=repr(names.icon)))
    filled = {
        path: Template(templates[part]).substitute(names.placeholders())
        for path, part in new.items()
    }
    _check_classes(names, (text for path, text in filled.items() if path.endswith(".py")))
    return Writing(root, filled, _registered(root, names))


def _registered(root: Path, names: KindNames) -> dict[str, str]:
    """The two lists, each with a line more."""
    _, proxy, _ = names.classes
    catalogue, kinds = _read(root, CATALOGUE), _read(root, KINDS)
    if re.search(rf'"{names.word}"|\b{proxy}\b', catalogue):
        raise StartProblem(
            tr(
                "{file} has a kind {word} or a class {name} already. Choose another name.",
                file=CATALOGUE,
                word=repr(names.word),
                name=proxy,
            )
        )
    view = f"{names.module}_view"
    try:
        catalogue = with_import(catalogue, f"liveobj.objects.{names.module}", proxy)
        catalogue = with_entry(catalogue, "STANDARD", f'StandardObject("{names.word}", {proxy})')
        kinds = with_import(kinds, f"widgets.{names.module}", view)
        kinds = with_entry(kinds, "KINDS", f"{view}.KIND")
    except NotRegistrable as problem:
        raise StartProblem(
            tr(
                "No line can be added to {first} and {second}: {reason}.",
                first=CATALOGUE,
                second=KINDS,
                reason=problem,
            )
        ) from None
    return {CATALOGUE: catalogue, KINDS: kinds}


def _check_id(root: Path, template_id: str) -> None:
    """An id is permanent, and belongs to one class."""
    for file in sorted((root / "liveobj/objects").glob("*.py")):
        if f'"{template_id}"' in file.read_text(encoding="utf-8"):
            raise StartProblem(
                tr(
                    "The id {id} stands in {file} already. Choose another one.",
                    id=repr(template_id),
                    file=file.relative_to(root).as_posix(),
                )
            )


def _check_classes(names: KindNames, sources: Iterable[str]) -> None:
    """A class must not hide something that the new files import, or that Python has."""
    imports = (
        node
        for source in sources
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and node.module != f"liveobj.objects.{names.module}"
    )
    used = {alias.name for node in imports for alias in node.names} | set(dir(builtins))
    taken = [name for name in names.classes if name in used]
    if taken:
        raise StartProblem(
            tr(
                "The class would be called {name}, which exists. Choose another name.",
                name=taken[0],
            )
        )


def _read_templates(root: Path) -> dict[str, str]:
    return {part: _read(root, f"{TEMPLATES}/{part}.txt") for part in _PARTS}


def _read(root: Path, name: str) -> str:
    try:
        return (root / name).read_text(encoding="utf-8")
    except OSError:
        raise StartProblem(
            tr(
                "{folder} is not a checkout of Live Objects: {file} is missing. "
                "Name its folder with --checkout.",
                folder=root,
                file=name,
            )
        ) from None


def _make_folder(folder: Path, made: list[Path]) -> None:
    if not folder.is_dir():
        folder.mkdir()
        made.append(folder)


def _put_back(before: Mapping[Path, str], made: list[Path]) -> None:
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()
    for path, text in before.items():
        with suppress(OSError):
            export_whole(path, text.encode())
