"""Owns the helper process that reads and writes files, so that a window never waits and a hostile
file can use up no more than the helper.

    python -m liveobj.richtext.convert read FILE          content as JSON to the output
    python -m liveobj.richtext.convert read-html          the same, of HTML from the input
    python -m liveobj.richtext.convert write FILE TITLE   content as JSON from the input

Exit code 2 with one sentence on the error output means that it could not be done.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from liveobj.errors import Problem
from liveobj.richtext.files import read_file, write_file
from liveobj.richtext.html_reader import read_html
from liveobj.richtext.wire import read_json, write_json

EXIT_REFUSED = 2
_MEMORY_BYTES_MAX = 2 * 1024**3
_PROCESSOR_S_MAX = 120


def main(arguments: Sequence[str]) -> int:
    def convert() -> bool:
        match arguments:
            case ["read", file]:
                sys.stdout.buffer.write(write_json(read_file(Path(file))))
                return True
            case ["read-html"]:
                html = sys.stdin.buffer.read().decode("utf-8", "replace")
                sys.stdout.buffer.write(write_json(read_html(html)))
                return True
            case ["write", file, title]:
                write_file(Path(file), read_json(sys.stdin.buffer.read()), title)
                return True
        return False

    return run_bounded(convert, "read FILE, read-html, or write FILE TITLE")


def run_bounded(work: Callable[[], bool], usage: str) -> int:
    """Does the work of a helper within bounds; gives its exit code. The work says whether it knew
    what to do."""
    _limit()
    try:
        if work():
            return 0
        sys.stderr.write(f"{usage}\n")
    except Problem as problem:
        sys.stderr.write(f"{problem}\n")
    except (MemoryError, RecursionError):
        sys.stderr.write("It would need too much memory.\n")
    return EXIT_REFUSED


def _limit() -> None:
    """Bounds memory and processor time, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  (not everywhere)

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES_MAX, _MEMORY_BYTES_MAX))
        resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_S_MAX, _PROCESSOR_S_MAX))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
