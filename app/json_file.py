"""Small files of JSON that survive being broken or missing: read with a warning, written whole.

A file that is damaged is put aside before it is replaced: it may hold what a person has made, and
somebody may be able to repair it.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

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
    return stored if isinstance(stored, dict) else {}


def save_json(file: Path, content: object) -> None:
    """Writes the file whole or not at all; a disk that refuses is logged, not raised."""
    try:
        if file in _damaged:
            _put_aside(file)
            _damaged.discard(file)
        write_whole(file, json.dumps(content, ensure_ascii=False, indent=2).encode())
    except OSError as error:
        log.warning("%s cannot be written: %s", file.name, error)


def _put_aside(file: Path) -> None:
    """Gives a damaged file another name beside its own; of many the last one is replaced."""
    names = [file.with_name(f"{file.name}.damaged-{number}") for number in range(1, ASIDE_MAX + 1)]
    aside = next((name for name in names if not name.exists()), names[-1])
    try:
        file.rename(aside)
    except FileNotFoundError:
        return
    log.warning("%s was damaged and is kept as %s", file.name, aside.name)
