"""Makes a profile its user's alone, whatever rights its folders had: what is in it is the text of
everything that the person has open."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

log = logging.getLogger(__name__)

_OTHERS = 0o077
# What a profile has in its folders. A folder with anything else in it is not ours to close.
_ENTRIES = (
    *("settings.json*", "recent.json*", "pinned.json*", "open.json*", "hints.json*", "peers.json*"),
    *("trusted", "search.db*", "live-objects.log*", "objects", "references", "events", "run"),
    *(".live-objects-*.partial", "*.socket", "*.host", "*.lock"),
)
# Secrets refuse to be used once others could read them; see transport/secrets_file.py.
_SECRETS = ("scope", "identity", "scope-members")


def make_private(folders: Iterable[Path]) -> None:
    """Takes all rights of others off the folders of a profile, and off what is in them."""
    for folder in dict.fromkeys(folders):
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if _is_ours(entry.name):
                _close(Path(entry.path))
        known = all(_is_ours(entry.name) or entry.name in _SECRETS for entry in entries)
        if known:
            _take_rights_off(folder, 0o700)


def _is_ours(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in _ENTRIES)


def _close(path: Path) -> None:
    """A folder that is closed already is not walked through: nobody gets behind it."""
    status = _status(path)
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        _take_rights_off(path, 0o600)
    elif status.st_mode & _OTHERS:
        for each, is_folder in _all_below(path):
            _take_rights_off(each, 0o700 if is_folder else 0o600)
        _take_rights_off(path, 0o700)


def _all_below(folder: Path) -> Iterator[tuple[Path, bool]]:
    for parent, folders, files in os.walk(folder, topdown=False):
        yield from ((Path(parent, name), False) for name in files)
        yield from ((Path(parent, name), True) for name in folders)


def _status(path: Path) -> os.stat_result | None:
    """Of the thing itself; None for links, whose targets may be anybody's."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return None if stat.S_ISLNK(status.st_mode) else status


def _take_rights_off(path: Path, rights: int) -> None:
    status = _status(path)
    if status is None or not status.st_mode & _OTHERS:
        return
    try:
        path.chmod(rights)
    except OSError as problem:
        log.warning("others may read %s: %s", path, problem.strerror)
