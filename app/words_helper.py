"""Reads the words of a stored object in a process of its own: of a large one they take seconds.

    python -m app.words_helper REFERENCE_FILE OBJECTS_FOLDER    an entry of the index, as JSON

Nothing is written, and the exit code is 1, if nothing is stored of it.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from app.search_index import TEXT_CHARACTERS_MAX, Entry
from liveobj.references import ReferenceProblem, fingerprint, read_reference_file
from liveobj.references.summary import title_of
from liveobj.storage.stored import read_stored
from widgets.object_kind import Kinds

log = logging.getLogger(__name__)

_SECONDS_MAX = 120


def read_elsewhere(file: Path, objects: Path) -> Entry | None:
    """What is stored of the object that a file refers to, read by the helper; waits for it. None
    if there is nothing, or if it did not work."""
    command = [sys.executable, "-m", "app.words_helper", str(file), str(objects)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            timeout=_SECONDS_MAX,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            return None
        return Entry(**json.loads(done.stdout))
    except (OSError, subprocess.SubprocessError, ValueError, TypeError) as problem:
        log.warning("the words of %s cannot be read: %s", file.name, problem)
        return None


def stored_entry(file: Path, objects: Path, kinds: Kinds) -> Entry | None:
    """What is on disk of the object that a file refers to; None if nothing is."""
    try:
        reference = read_reference_file(file)
    except ReferenceProblem:
        return None
    identity, kind = str(fingerprint(reference)), kinds.of(reference)
    document = read_stored(objects / f"{identity}.db")
    if document is None or kind is None:
        return None
    given = document.to_plain().get("about", {}).get("title")
    title = given if isinstance(given, str) and given.strip() else title_of(reference)
    return Entry(identity, str(file), kind.word, title, kind.text(document))


def main(arguments: Sequence[str]) -> int:
    if hasattr(os, "nice"):
        os.nice(10)  # it is never in a hurry
    try:
        read_reference_file(Path(arguments[0]))
    except ReferenceProblem:
        return 1
    from widgets.kinds import KINDS  # noqa: PLC0415  (takes a while, and only the helper needs it)

    entry = stored_entry(Path(arguments[0]), Path(arguments[1]), KINDS)
    if entry is None:
        return 1
    fields = asdict(entry)
    fields["body"] = entry.body[:TEXT_CHARACTERS_MAX]
    sys.stdout.write(json.dumps(fields))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
