"""Small files of JSON that survive being broken or missing: read with a warning, written whole.

A file that is damaged is put aside before it is replaced: it may hold what a person has made, and
somebody may be able to repair it.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from liveobj.host import InBackground
from transport.whole_file import write_whole

log = logging.getLogger(__name__)

ASIDE_MAX = 5
# What could not be read, until it is replaced.
_damaged: set[Path] = set()


def load_json(file: Path) -> object:
    """What is in the file; None if it is missing or damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        log.warning("%s cannot be read and is passed over: %s", file.name, error)
        _damaged.add(file)
        return None


def load_object(file: Path) -> dict[str, Any]:
    """The same where an object is expected; empty for everything else."""
    stored = load_json(file)
    if stored is not None and not isinstance(stored, dict):
        _damaged.add(file)
    return stored if isinstance(stored, dict) else {}


def load_list(file: Path) -> list[Any]:
    """The same where a list is expected."""
    stored = load_json(file)
    if stored is not None and not isinstance(stored, list):
        _damaged.add(file)
    return stored if isinstance(stored, list) else []


def save_json(file: Path, content: object) -> None:
    """Writes the file whole or not at all; a disk that refuses is logged, not raised."""
    try:
        if file in _damaged:
            _put_aside(file)
            _damaged.discard(file)
        write_whole(file, json.dumps(content, ensure_ascii=False, indent=2).encode())
    except OSError as error:
        log.warning("%s cannot be written: %s", file.name, error)


class JsonSaver:
    """Saves one file as often as it changes; the waiting for the disk is done `in_background` where
    there is one, and what changes meanwhile is written once."""

    def __init__(self, file: Path, in_background: InBackground | None = None) -> None:
        self._file = file
        self._in_background = in_background
        self._content: object = None
        self._waits = False

    def save(self, content: object) -> None:
        """Soon, or at once where nothing is done in the background. `content` must not change."""
        self._content = content
        if self._in_background is None:
            self._write()
        elif not self._waits:
            self._waits = True
            self._in_background(self._write, lambda _problem: None)

    def save_now(self, content: object) -> None:
        """It is on the disk when this returns."""
        self._content = content
        self._write()

    # In the background, where there is one

    def _write(self) -> None:
        """The newest content, which may be newer than the one that was asked for."""
        self._waits = False
        save_json(self._file, self._content)


def _put_aside(file: Path) -> None:
    """Gives a damaged file another name beside its own; of many the last one is replaced."""
    names = [file.with_name(f"{file.name}.damaged-{number}") for number in range(1, ASIDE_MAX + 1)]
    aside = next((name for name in names if not name.exists()), names[-1])
    try:
        file.rename(aside)
    except FileNotFoundError:
        return
    log.warning("%s was damaged and is kept as %s", file.name, aside.name)
