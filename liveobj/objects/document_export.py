"""Owns the helper process that writes a whole document to a file, from a copy of its state: to read
thousands of paragraphs out of it takes longer than a window may wait.

    python -m liveobj.objects.document_export FILE TITLE   the state from the input

Exit code 2 with one sentence on the error output means that it could not be done.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from liveobj.documents import Document, DocumentError, Origin
from liveobj.objects.rich_document import RichBody
from liveobj.richtext.convert import run_bounded
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.files import write_file


def export(state: bytes, file: Path, title: str) -> None:
    """Writes a file of the kind that its ending says; raises FileProblem."""
    document = Document(1, editable=False)
    try:
        document.import_update(state, Origin.STORED)
        content = RichBody(document, _no_random).content()
    except DocumentError as problem:
        raise FileProblem(f"The document cannot be read: {problem}") from problem
    write_file(file, content, title)


def _no_random(_count: int) -> bytes:
    raise AssertionError("nothing is made in a copy")


def main(arguments: Sequence[str]) -> int:
    def work() -> bool:
        match arguments:
            case [file, title]:
                export(sys.stdin.buffer.read(), Path(file), title)
                return True
        return False

    return run_bounded(work, "FILE TITLE")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
