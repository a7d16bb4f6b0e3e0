"""The profile's own copies of all references that went live here, one file each, named by the
fingerprint of the object: what a person does with the file that they were given changes nothing."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from liveobj.capabilities.joining import KeysDiffer, joined
from liveobj.errors import Problem
from liveobj.references import (
    Reference,
    ReferenceProblem,
    fingerprint,
    read_reference_file,
    write_reference_file,
)
from liveobj.references.model import AnyReference
from liveobj.references.summary import title_of
from widgets.language import tr

log = logging.getLogger(__name__)

SUFFIX = ".liveobject"
_IDENTITY = re.compile(r"[0-9a-f]{64}")


class ReferenceLost(Problem):
    """An object that was live here, and whose keys are not here any more."""


def is_identity(key: str) -> bool:
    """Whether a text is the fingerprint of an object, and not the path of a file."""
    return _IDENTITY.fullmatch(key) is not None


class KeptReferences:
    """The copies in one folder. `objects` is where the databases are."""

    def __init__(self, folder: Path, objects: Path) -> None:
        self._folder = folder
        self._objects = objects
        self._titles: set[str] | None = None

    def file(self, identity: str) -> Path:
        """Where the copy is, or would be."""
        return self._folder / f"{identity}{SUFFIX}"

    def find(self, identity: str) -> Reference | None:
        """The reference, if it is kept and can be read."""
        file = self.file(identity)
        try:
            if not is_identity(identity) or not file.exists():
                return None
            reference = read_reference_file(file)
        except (ReferenceProblem, OSError) as problem:
            log.warning("a kept reference cannot be read: %s", problem)
            return None
        return reference if str(fingerprint(reference)) == identity else None

    def get(self, identity: str) -> Reference:
        """The same; raises ReferenceLost, whose sentence says what one can do."""
        reference = self.find(identity)
        if reference is not None:
            return reference
        if (self._objects / f"{identity}.db").exists():
            raise ReferenceLost(
                tr(
                    "Its file, which holds the keys, is not on this PC any more. What you wrote is"
                    " still here: open the file again, wherever it is now, or ask somebody who has"
                    " the object to share it with you."
                )
            )
        raise ReferenceLost(
            tr("Its file is not on this PC any more: ask somebody who has it to share it with you.")
        )

    def completed(self, reference: AnyReference) -> AnyReference:
        """The reference with the keys that are kept besides; raises KeysDiffer if it has others
        than those."""
        known = self.find(str(fingerprint(reference)))
        return reference if known is None else joined(reference, known)

    def agrees_with(self, reference: Reference) -> bool:
        """Whether it has no other keys than those that are kept."""
        try:
            self.completed(reference)
        except KeysDiffer:
            return False
        return True

    def keep(self, reference: Reference) -> Path:
        """Keeps a reference for good, or what it adds to the one that is kept; returns the file.
        Raises KeysDiffer, and ReferenceProblem if the disk refuses."""
        identity = str(fingerprint(reference))
        known = self.find(identity)
        whole = reference if known is None else joined(known, reference)
        if whole != known:
            write_reference_file(whole, self.file(identity))
            if self._titles is not None:
                self._titles.add(title_of(whole))
        return self.file(identity)

    def identities(self) -> Iterator[str]:
        """All that are kept."""
        for file in sorted(self._folder.glob(f"*{SUFFIX}")):
            if is_identity(file.stem):
                yield file.stem

    def free_title(self, title: str) -> str:
        """The title, with a number if another object was made with the same one."""
        if self._titles is None:  # read once, when it is first asked for
            found = (self.find(identity) for identity in self.identities())
            self._titles = {title_of(each) for each in found if each is not None}
        chosen, number = title, 1
        while chosen in self._titles:
            number += 1
            chosen = f"{title} ({number})"
        return chosen
