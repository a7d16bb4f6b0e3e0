"""Owns copies of objects in plain files, for when the disk of the profile refuses: notes and chats
as text, documents as ODT, tables as CSV. What only arranges others, such as a desktop, has none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from liveobj.csv_text import write_csv
from liveobj.objects.chat import Chat
from liveobj.objects.rich_document import RichDocument
from liveobj.objects.shared_document import SharedDocument
from liveobj.objects.table import Table
from liveobj.objects.text_note import TextNote
from liveobj.references.writing import file_name
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.files import write_file
from transport.sentences import worded
from transport.whole_file import export_whole

_ENDINGS: dict[type[SharedDocument], str] = {
    TextNote: ".txt",
    Chat: ".txt",
    RichDocument: ".odt",
    Table: ".csv",
}


def can_copy(shared: SharedDocument) -> bool:
    """Whether an object has a form as a plain file."""
    return type(shared) in _ENDINGS


def write_copy(shared: SharedDocument, folder: Path) -> Path:
    """Writes what an object holds now into a new file of the folder; raises FileProblem."""
    file = _free_file(folder, file_name(shared.title), _ENDINGS[type(shared)])
    if isinstance(shared, RichDocument):
        write_file(file, shared.body.content(), shared.title)
        return file
    try:
        export_whole(file, _text_of(shared).encode("utf-8", "replace"))
    except OSError as problem:
        raise FileProblem(
            worded("{file} cannot be written: {reason}.", file=file.name, reason=problem.strerror)
        ) from problem
    return file


def _free_file(folder: Path, name: str, ending: str) -> Path:
    file, number = folder / f"{name}{ending}", 1
    while file.exists():
        number += 1
        file = folder / f"{name} ({number}){ending}"
    return file


def _text_of(shared: SharedDocument) -> str:
    if isinstance(shared, TextNote):
        return shared.text.to_string()
    if isinstance(shared, Chat):
        return "".join(
            f"{datetime.fromtimestamp(one.stamp / 1000, UTC):%Y-%m-%d %H:%M} {one.name}: "
            f"{one.text}\n"
            for one in sorted(shared.all(), key=lambda message: message.place)
        )
    assert isinstance(shared, Table), "the endings list what there is"
    content = shared.content
    names = [content.column_name(column) for column in content.columns]
    rows = [[shared.as_typed(row, column) for column in content.columns] for row in content.rows]
    return write_csv([names, *rows], harmless=False)
