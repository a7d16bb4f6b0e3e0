"""The objects that are open in this program, each once; opens and closes them, knows no window."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.paths import Paths
from app.settings import RecentList
from liveobj.host import Host
from liveobj.objects.text_note import TextNote, new_note, open_note
from liveobj.references import (
    Reference,
    fingerprint,
    read_reference,
    read_reference_file,
    write_reference,
    write_reference_file,
)


@dataclass(frozen=True, slots=True)
class OpenObject:
    """An open object and the reference file that it was opened from."""

    note: TextNote
    file: Path


class Session:
    """Opens, finds and closes objects. Attributes: `recent`, what was open lately."""

    def __init__(self, host: Host, paths: Paths) -> None:
        self._host = host
        self._paths = paths
        self._open: dict[str, OpenObject] = {}
        self.recent = RecentList(paths.recent)

    @property
    def open_objects(self) -> Iterable[OpenObject]:
        return tuple(self._open.values())

    def open_file(self, file: Path) -> OpenObject:
        """Opens what a file refers to; the same object again if it is open already.

        Raises ReferenceProblem or StorageError, whose text is a sentence.
        """
        return self._open_reference(read_reference_file(file), file.absolute())

    def open_text(self, text: str) -> OpenObject:
        """Opens a reference that came as text, and keeps it as a file."""
        reference = read_reference(text.encode())
        identity = str(fingerprint(reference))
        file = self._paths.references / f"{identity[:16]}.liveobject"
        if not file.exists():
            write_reference_file(reference, file)
        return self._open_reference(reference, file)

    def new_note(self, now: datetime) -> OpenObject:
        """Makes a note that did not exist before; its reference is kept as a file."""
        base = f"Note {now.day} {now:%B}"
        title, number = base, 1
        while (file := self._paths.references / f"{title}.liveobject").exists():
            number += 1
            title = f"{base} ({number})"
        reference = new_note(title, os.urandom)
        write_reference_file(reference, file)
        return self._open_reference(reference, file)

    def close(self, opened: OpenObject) -> None:
        self._open.pop(str(opened.note.fingerprint), None)
        opened.note.close()

    def close_all(self) -> None:
        for opened in list(self._open.values()):
            self.close(opened)

    def _open_reference(self, reference: Reference, file: Path) -> OpenObject:
        identity = str(fingerprint(reference))
        opened = self._open.get(identity)
        if opened is None:
            opened = OpenObject(open_note(reference, self._host), file)
            self._open[identity] = opened
        self.recent.add(opened.file, opened.note.title)
        return opened


def reference_text(note: TextNote) -> str:
    """The reference as text that can be pasted into a mail or a chat."""
    return write_reference(note.reference).decode()
