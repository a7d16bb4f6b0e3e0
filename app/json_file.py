"""Small files of JSON that survive being broken or missing: read with a warning, written whole."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)


def load_json(file: Path) -> object:
    """What is in the file; None if it is missing or damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        log.warning("%s cannot be read and is passed over: %s", file.name, error)
        return None


def load_object(file: Path) -> dict[str, Any]:
    """The same where an object is expected; empty for everything else."""
    stored = load_json(file)
    return stored if isinstance(stored, dict) else {}


def save_json(file: Path, content: object) -> None:
    """Writes the file whole or not at all; a disk that refuses is logged, not raised."""
    new = file.with_suffix(".new")
    try:
        new.write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding="utf-8")
        new.replace(file)
    except OSError as error:
        log.warning("%s cannot be written: %s", file.name, error)
