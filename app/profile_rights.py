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
            _take_rights_off(folder)


def _is_ours(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in _ENTRIES)


def _close(path: Path) -> None:
    """A folder that is closed already is not walked through: nobody gets behind it."""
    status = _status(path)
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        _take_rights_off(path)
    elif status.st_mode & _OTHERS:
        for each in _all_below(path):
            _take_rights_off(each)
        _take_rights_off(path)


def _all_below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder, topdown=False):
        yield from (Path(parent, name) for name in (*files, *folders))


def _status(path: Path) -> os.stat_result | None:
    """Of the thing itself; None for links, whose targets may be anybody's."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return None if stat.S_ISLNK(status.st_mode) else status


def _take_rights_off(path: Path) -> None:
    """Those of others only: the user can do with it what they could."""
    status = _status(path)
    if status is None or not status.st_mode & _OTHERS:
        return
    try:
        path.chmod(stat.S_IMODE(status.st_mode) & 0o700)
    except OSError as problem:
        log.warning("others may read %s: %s", path, problem.strerror)
