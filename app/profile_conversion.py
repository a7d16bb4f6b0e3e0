"""Brings a profile of an earlier version up to date: there, objects were known by the paths of
their files, and a file that was moved was lost.

It is done at every start, and changes nothing where nothing is old.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.json_file import load_json, save_json
from app.kept_references import SUFFIX, KeptReferences, is_identity
from app.paths import Paths
from app.search_index import identity_of
from liveobj.errors import Problem
from liveobj.references import fingerprint, read_reference_file

log = logging.getLogger(__name__)


class ProfileConversion:
    """Converts one profile, with `run`."""

    def __init__(self, paths: Paths, kept: KeptReferences) -> None:
        self._paths = paths
        self._kept = kept
        self._found: dict[str, str] = {}

    def run(self) -> None:
        for list_file in (self._paths.recent, self._paths.pinned):
            self._convert_list(list_file)
        self._convert_open()
        self._convert_files()

    def _convert_list(self, file: Path) -> None:
        entries = load_json(file)
        if not isinstance(entries, list):
            return
        converted = [self._entry(entry) for entry in entries]
        if converted != entries:
            save_json(file, converted)

    def _entry(self, entry: Any) -> Any:
        if not isinstance(entry, dict) or not isinstance(entry.get("key"), str):
            return entry
        key = entry["key"]
        if is_identity(key):
            return entry
        where = "" if self._is_ours(key) else key
        return {**entry, "key": self._identity(key), "where": where}

    def _convert_open(self) -> None:
        stored = load_json(self._paths.open_now)
        if not isinstance(stored, dict) or not isinstance(stored.get("files"), list):
            return
        files = [each for each in stored["files"] if isinstance(each, str)]
        front = stored.get("front")
        save_json(
            self._paths.open_now,
            {
                "objects": [self._identity(each) for each in files],
                "front": self._identity(front) if isinstance(front, str) and front else "",
                "tries": stored.get("tries"),
            },
        )

    def _convert_files(self) -> None:
        """References that were made here had the names of their titles."""
        for file in sorted(self._paths.references.glob(f"*{SUFFIX}")):
            if not is_identity(file.stem) and self._keep(str(file)):
                with suppress(OSError):
                    file.unlink()

    def _is_ours(self, path: str) -> bool:
        return Path(path).parent == self._paths.references

    def _identity(self, path: str) -> str:
        """The object that a file refers to, which is kept from now on. Where the file is gone, the
        search index may know which one it was; else the path stays."""
        return self._keep(path) or identity_of(self._paths.search, path) or path

    def _keep(self, path: str) -> str:
        """The object that a file refers to; nothing where it cannot be kept."""
        if path not in self._found:
            self._found[path] = ""
            try:
                reference = read_reference_file(Path(path))
                self._kept.keep(reference)
                self._found[path] = str(fingerprint(reference))
            except (Problem, OSError, ValueError) as problem:
                log.info("%s is not kept: %s", path, problem)
        return self._found[path]
