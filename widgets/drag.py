"""Objects on their way by drag and drop or over the clipboard, to and from any program.

What is given away is a reference in three forms: for ourselves, as a file for the file manager or a
mail, and as text. The file is written when somebody asks for it, not before. What comes in may have
been made by anybody: it is read within the bounds of `liveobj.references`, and nothing of it runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QMimeData, QUrl

from liveobj.references import (
    Reference,
    ReferenceProblem,
    fingerprint,
    read_reference,
    read_reference_file,
    write_reference,
    write_reference_file,
)
from liveobj.references.writing import file_name
from liveobj.references.xml_tree import SIZE_BYTES_MAX

REFERENCE_MIME = "application/x-liveobject+xml"
KIND_MIME = "application/x-liveobject-kind"
FILE_ENDING = ".liveobject"
FILES_MAX = 200
_FILES = "text/uri-list"
_TEXT = "text/plain"
_WORD_BYTES_MAX = 100


@dataclass(frozen=True, slots=True)
class Dragged:
    """The references that were found, and a sentence for each that could not be read."""

    references: tuple[Reference, ...] = ()
    problems: tuple[str, ...] = ()


# Giving


def mime_of(reference: Reference, title: str) -> QMimeData:
    """One object, to be dragged or copied; `title` becomes the name of its file."""
    return _References([(reference, title)])


def mime_of_all(objects: Sequence[tuple[Reference, str]]) -> QMimeData:
    """Several objects with their titles."""
    return _References(objects)


def mime_of_kind(word: str) -> QMimeData:
    """A tool of the toolbox: an object of that kind is made where it is dropped."""
    mime = QMimeData()
    mime.setData(KIND_MIME, QByteArray(word.encode()))
    return mime


class _References(QMimeData):
    """Makes each form when it is asked for."""

    def __init__(self, objects: Sequence[tuple[Reference, str]]) -> None:
        super().__init__()
        self._objects = tuple(objects)

    def formats(self) -> list[str]:
        # The form of our own holds one object; several travel as files.
        own = [REFERENCE_MIME] if len(self._objects) == 1 else []
        return [*own, _FILES, _TEXT]

    def hasFormat(self, name: str) -> bool:
        return name in self.formats()

    def retrieveData(self, name: str, _type: object) -> Any:
        if name == REFERENCE_MIME and len(self._objects) == 1:
            return QByteArray(write_reference(self._objects[0][0]))
        if name == _TEXT:
            return "\n".join(write_reference(reference).decode() for reference, _ in self._objects)
        if name == _FILES:
            files = (_file_of(reference, title) for reference, title in self._objects)
            return [QUrl.fromLocalFile(str(file)) for file in files if file is not None]
        return None


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where files to be given away are written: this user's alone, gone with the program."""
    return tempfile.TemporaryDirectory(prefix="live-objects-")


def _file_of(reference: Reference, title: str) -> Path | None:
    """The file of a reference; None if the disk refuses, and the other forms must do."""
    try:
        # Two objects may have the same title.
        folder = Path(_folder().name) / fingerprint(reference).short
        folder.mkdir(exist_ok=True)
        file = folder / f"{file_name(title)}{FILE_ENDING}"
        write_reference_file(reference, file)
    except (OSError, ReferenceProblem):
        return None
    return file


# Taking


def may_hold_references(mime: QMimeData) -> bool:
    """Whether it is worth while to read; asks for no contents but the names of files."""
    if isinstance(mime, _References) or mime.hasFormat(REFERENCE_MIME):
        return True
    return bool(reference_files_in(mime)) or (mime.hasText() and _text_of(mime) != b"")


def references_in(mime: QMimeData) -> list[Reference]:
    """Every reference that can be read."""
    return list(read_drag(mime).references)


def read_drag(mime: QMimeData) -> Dragged:
    """The references in the best form there is: our own, files, or text."""
    if mime.hasFormat(REFERENCE_MIME):
        return _read([bytes(mime.data(REFERENCE_MIME).data())])
    files = reference_files_in(mime)
    if files:
        return _read(files)
    text = _text_of(mime) if mime.hasText() else b""
    return _read([text]) if text else Dragged()


def reference_files_in(mime: QMimeData) -> list[Path]:
    """The `.liveobject` files of this PC among what is dragged, as many as one would ever want."""
    files = [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
    return [file for file in files if file.suffix.lower() == FILE_ENDING][:FILES_MAX]


def kind_in(mime: QMimeData) -> str | None:
    """The word of a tool of the toolbox; it need not be one that is known."""
    if not mime.hasFormat(KIND_MIME):
        return None
    return bytes(mime.data(KIND_MIME).data())[:_WORD_BYTES_MAX].decode(errors="replace")


def _text_of(mime: QMimeData) -> bytes:
    """The text, if it looks like a reference; a lone half of a character cannot be in one."""
    text = mime.text()[: SIZE_BYTES_MAX + 1].strip()
    return text.encode(errors="replace") if text.startswith("<") and "liveobject" in text else b""


def _read(sources: Sequence[bytes | Path]) -> Dragged:
    references: list[Reference] = []
    problems: list[str] = []
    for source in sources:
        try:
            if isinstance(source, Path):
                references.append(read_reference_file(source))
            else:
                references.append(read_reference(source))
        except ReferenceProblem as problem:
            problems.append(str(problem))
    return Dragged(tuple(references), tuple(problems))
