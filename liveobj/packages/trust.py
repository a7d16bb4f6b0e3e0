"""Owns whose packages may run here: publishers that the person agreed to, versions seen,
recalls."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liveobj.packages.errors import PackageProblem
from liveobj.packages.reading import Package
from transport.sentences import worded
from transport.whole_file import write_whole


@dataclass(frozen=True, slots=True)
class Question:
    """What the person is asked before code of a publisher runs for the first time. The answer is
    remembered for the package and its publisher; a package that was `confined` and is not any
    more is asked about again."""

    package: str
    title: str
    version: int
    publisher: str
    confined: bool = False

    @property
    def sentence(self) -> str:
        shown = " ".join(self.publisher[i : i + 4] for i in range(0, 16, 4))
        rights = (
            "in a process of its own, without access to the network or to your files"
            if self.confined
            else "with the same rights as this program"
        )
        return (
            f"“{self.title}” (version {self.version}) wants to run on this computer, {rights}. "
            f"Its publisher's key begins with {shown}. Do you trust it?"
        )


Answer = Callable[[bool], None]
Ask = Callable[[Question, Answer], None]
Start = Callable[[Coroutine[Any, Any, None]], object]


def ask_by(dialog: Callable[[Question], Awaitable[bool]], start: Start) -> Ask:
    """A dialog that is awaited, as something that can be asked. `start` runs a coroutine, such as
    `loop.create_task`; a dialog that fails, or is cancelled, has refused."""
    running: set[object] = set()

    def ask(question: Question, answer: Answer) -> None:
        async def wait() -> None:
            agreed = False
            try:
                agreed = bool(await dialog(question))
            finally:
                running.discard(task)
                answer(agreed)

        task: object = None
        task = start(wait())
        running.add(task)  # or else nobody holds it, and it may vanish

    return ask


def refuse_all(_question: Question, answer: Answer) -> None:
    """For programs without anybody to ask."""
    answer(False)


class Trust:
    """Kept in one file. A publisher is pinned to a package's name at first use: another key for the
    same name is refused, even if it is trusted for other packages."""

    def __init__(self, path: Path, recalled: Iterable[str] = ()) -> None:
        self._path = path
        self._recalled = set(recalled)
        self._known: dict[str, dict[str, str | int]] = {}
        if path.exists():
            self._known = self._load()

    def _load(self) -> dict[str, dict[str, str | int]]:
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as problem:
            raise PackageProblem(
                worded(
                    "The list of trusted publishers ({path}) cannot be read: {reason}.",
                    path=self._path,
                    reason=problem,
                )
            ) from None
        return known if isinstance(known, dict) else {}

    def recall(self, digests: Iterable[str]) -> None:
        """Packages that their publisher, or an administrator, has taken back."""
        self._recalled |= set(digests)

    def check(self, package: Package, now: float) -> bool:
        """True if the package may run, False if the person has to be asked first; raises
        PackageProblem if it may not, whatever the person says."""
        manifest = package.manifest
        if package.digest in self._recalled:
            raise PackageProblem(
                worded("“{title}” has been recalled and must not be used.", title=manifest.title)
            )
        if manifest.expires < now:
            raise PackageProblem(
                worded("“{title}” has expired; ask for a newer version.", title=manifest.title)
            )
        known = self._known.get(manifest.name)
        if known is None:
            return False
        if known["publisher"] != manifest.publisher:
            raise PackageProblem(
                worded(
                    "“{title}” is signed by somebody else than before; it is not used.",
                    title=manifest.title,
                )
            )
        if manifest.version < int(known["version"]):
            raise PackageProblem(
                worded(
                    "“{title}” is older (version {version}) than what was used before ({known}); "
                    "it is not used.",
                    title=manifest.title,
                    version=manifest.version,
                    known=known["version"],
                )
            )
        # Agreed to without rights, and now it wants them: that is another question.
        return manifest.confined or not known.get("confined")

    def accept(self, package: Package) -> None:
        """Remembers that the person agreed, and which version was used. Raises PackageProblem."""
        manifest = package.manifest
        self._known[manifest.name] = {
            "publisher": manifest.publisher,
            "version": manifest.version,
            "confined": manifest.confined,
        }
        text = json.dumps(self._known, indent=1, sort_keys=True)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, text.encode())
        except OSError as problem:
            raise PackageProblem(
                worded("The disk refuses: {reason}.", reason=problem.strerror)
            ) from problem
