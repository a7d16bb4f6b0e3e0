"""Owns the library: a folder of the objects that a signed package implements (thesis 2.1.5 D1)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from liveobj.confinement import ConfinedPackage, Described
from liveobj.declare import DeclarationError, live_object
from liveobj.objects.standard_types import FolderEndpoint, FolderType
from liveobj.packages import Package, PackageProblem, Question, Trust, read_package
from liveobj.packages.loading import load, module_name, unpack
from liveobj.packages.reading import PACKAGE_BYTES_MAX
from liveobj.references import Primitive, Reference, Value
from liveobj.references.model import Parameterized
from liveobj.runtime.context import Context
from transport.sentences import worded

TEMPLATE_ID = "live-objects:library"


def library(path: Path, publisher: bytes) -> Reference:
    """A reference to the library in the package at `path`, made by the holder of a key."""
    return Parameterized(
        Primitive(TEMPLATE_ID), {"path": Value(str(path)), "publisher": Value(publisher)}
    )


@live_object(TEMPLATE_ID, title="Library", is_a=(FolderType,))
class Library:
    """Gives references to the objects in a package, after it was checked and agreed to."""

    context: Context
    folder: FolderEndpoint

    _package: Package | None = None
    _confined: ConfinedPackage | None = None
    _refused = ""
    _stopped = False
    _asked: list[str]

    def __init__(self, path: str, publisher: bytes) -> None:
        self._path = Path(path)
        self._publisher = publisher
        self._asked = []

    def on_start(self) -> None:
        host = self.context.host
        package = self._read()
        trust = Trust(host.folder / "publishers.json", host.recalled_packages)
        if host.wall_time is None:
            raise PackageProblem(
                worded("Without a clock it cannot be told whether a package has expired.")
            )
        if trust.check(package, host.wall_time()):
            self._use(package, trust)
            return
        manifest = package.manifest
        question = Question(
            manifest.name,
            manifest.title,
            manifest.version,
            manifest.publisher,
            manifest.confined,
        )
        host.ask_consent(question, lambda agreed: self._on_answer(package, trust, agreed))

    def _read(self) -> Package:
        try:
            if self._path.exists() and not self._path.is_file():
                # Opening a pipe or a device might never return.
                raise PackageProblem(worded("{path} is not a file.", path=self._path))
            with self._path.open("rb") as file:
                data = file.read(PACKAGE_BYTES_MAX + 1)
        except OSError as problem:
            raise PackageProblem(
                worded(
                    "The package {path} cannot be read ({reason}).",
                    path=self._path,
                    reason=problem.strerror,
                )
            ) from problem
        package = read_package(data)
        if bytes.fromhex(package.manifest.publisher) != self._publisher:
            raise PackageProblem(
                worded("The package is signed by somebody else than the object says.")
            )
        return package

    def on_stop(self) -> None:
        self._stopped = True
        if self._confined is not None:
            self._confined.close()

    def _on_answer(self, package: Package, trust: Trust, agreed: bool) -> None:
        if self._stopped:
            return  # the person has closed the object instead of answering
        if agreed:
            try:
                self._use(package, trust)
            except PackageProblem as problem:
                self._refuse(str(problem))
        else:
            self._refuse(worded("“{title}” was not allowed to run.", title=package.manifest.title))

    def _refuse(self, sentence: str) -> None:
        self._refused = sentence
        self.context.notice(sentence)
        self._answer()

    def _answer(self) -> None:
        asked, self._asked = self._asked, []
        for name in asked:
            self.on_folder_get(name)

    def _use(self, package: Package, trust: Trust) -> None:
        folder = self.context.host.folder / "packages"
        if package.manifest.confined:
            self._confine(package, folder)
        else:
            load(package, folder)
            self._have(package)
        trust.accept(package)

    def _have(self, package: Package) -> None:
        self._package = package
        self._answer()

    def _confine(self, package: Package, folder: Path) -> None:
        """Runs the package in a process of its own, for this library and what is made from it."""
        manifest = package.manifest
        running = ConfinedPackage(
            self.context.host,
            manifest.title,
            unpack(package, folder),
            module_name(package),
            sorted(set(manifest.objects.values())),
        )
        self._confined = running
        running.use(lambda found: self._on_ready(package, running, found), self._on_broken)

    def _on_ready(self, package: Package, running: ConfinedPackage, found: Described) -> None:
        if self._stopped:
            return
        try:
            for declaration in found.values():
                self.context.declare(replace(declaration, elsewhere=running))
        except DeclarationError as problem:
            self._refuse(str(problem))
        else:
            self._have(package)

    def _on_broken(self, sentence: str) -> None:
        if not self._stopped:
            self._refuse(sentence)

    def on_folder_get(self, name: str) -> None:
        if self._package is None and not self._refused:
            self._asked.append(name)  # the person is still thinking
            return
        objects = self._package.manifest.objects if self._package is not None else {}
        if name in objects:
            self.folder.item(name, Primitive(objects[name]))
        else:
            self.folder.missing(name)
