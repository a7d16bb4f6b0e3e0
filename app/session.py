"""The objects that are open in this program, each in one tab; opens and closes them, knows no
window."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.paths import Paths
from app.settings import RecentList
from liveobj.host import Host
from liveobj.objects.catalogue import DECLARED
from liveobj.opening import Opening
from liveobj.references import (
    Reference,
    fingerprint,
    read_reference,
    read_reference_file,
    write_reference,
    write_reference_file,
)
from liveobj.references.writing import file_name
from liveobj.runtime import CannotDereference, Runtime
from widgets.object_kind import Kinds, ObjectKind

assert DECLARED, "the standard objects are declared by being imported"


@dataclass(frozen=True, slots=True)
class OpenObject:
    """An open object, what it is, and the reference file that it was opened from."""

    opening: Opening
    kind: ObjectKind
    file: Path


class Session:
    """Opens, finds and closes objects. Attributes: `runtime`, `kinds`, and `recent`, what was open
    lately."""

    def __init__(self, host: Host, paths: Paths, kinds: Kinds) -> None:
        self.runtime = Runtime(host)
        self.kinds = kinds
        self._paths = paths
        self._open: dict[str, OpenObject] = {}
        self.recent = RecentList(paths.recent)

    @property
    def open_objects(self) -> Iterable[OpenObject]:
        return tuple(self._open.values())

    # All that open raise a Problem, whose text is a sentence.

    def open_file(self, file: Path) -> OpenObject:
        """Opens what a file refers to; the same object again if it is open already."""
        return self._open_reference(read_reference_file(file), file.absolute())

    def open_text(self, text: str) -> OpenObject:
        """Opens a reference that came as text, and keeps it as a file."""
        return self.open_reference(read_reference(text.encode()))

    def open_reference(self, reference: Reference) -> OpenObject:
        """Opens a reference that came from another object, and keeps it as a file."""
        found = self._open.get(str(fingerprint(reference)))
        if found is not None:
            return found
        file = self._paths.references / f"{str(fingerprint(reference))[:16]}.liveobject"
        if not file.exists():
            write_reference_file(reference, file)
        return self._open_reference(reference, file)

    def new_object(self, kind: ObjectKind, now: datetime) -> OpenObject:
        """Makes and opens an object that did not exist before."""
        reference, file = self.make(kind, now)
        return self._open_reference(reference, file)

    def make(self, kind: ObjectKind, now: datetime, title: str = "") -> tuple[Reference, Path]:
        """Makes an object that did not exist before; its reference is kept as a file."""
        base = title or f"{kind.title} {now.day} {now:%B}"
        name = file_name(base)
        title, file, number = base, self._paths.references / f"{name}.liveobject", 1
        while file.exists():
            number += 1
            title = f"{base} ({number})"
            file = self._paths.references / f"{name} ({number}).liveobject"
        reference = kind.make(title, os.urandom)
        write_reference_file(reference, file)
        return reference, file

    def open_inside(self, reference: Reference) -> Opening:
        """Opens an object that is shown inside another; whoever asks closes it."""
        return Opening(self.runtime, reference)

    def kind_of(self, reference: Reference) -> ObjectKind:
        kind = self.kinds.of(reference)
        if kind is None:
            raise CannotDereference(
                "This version cannot show it: `live-objects inspect` tells what it is made of."
            )
        return kind

    def close(self, opened: OpenObject) -> None:
        self._open.pop(str(opened.opening.identity), None)
        opened.opening.close()

    def close_all(self) -> None:
        for opened in list(self._open.values()):
            self.close(opened)
        self.runtime.close()

    def _open_reference(self, reference: Reference, file: Path) -> OpenObject:
        identity = str(fingerprint(reference))
        opened = self._open.get(identity)
        if opened is None:
            kind = self.kind_of(reference)
            opened = OpenObject(Opening(self.runtime, reference), kind, file)
            self._open[identity] = opened
        self.recent.add(opened.file, opened.opening.title, opened.kind.word)
        return opened


def reference_text(reference: Reference) -> str:
    """The reference as text that can be pasted into a mail or a chat."""
    return write_reference(reference).decode()
