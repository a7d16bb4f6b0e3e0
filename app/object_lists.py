"""Lists of objects that outlive the program: lately open, pinned, and open when it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from app.json_file import JsonSaver, load_list, load_object
from liveobj.host import InBackground
from widgets.listed_object import ListedObject

RECENT_MAX = 12
PINNED_MAX = 50
OPEN_MAX = 200
# A session that ended this often before it was settled is not opened again by itself.
TRIES_MAX = 2


class _ObjectList:
    """Entries by key, the identities of their objects, kept on disk at every change."""

    def __init__(self, file: Path, entries_max: int, in_background: InBackground | None) -> None:
        self._saver = JsonSaver(file, in_background)
        self._max = entries_max
        self._entries = _read(file)[:entries_max]

    @property
    def entries(self) -> tuple[ListedObject, ...]:
        return tuple(self._entries)

    def __contains__(self, key: object) -> bool:
        return any(entry.key == key for entry in self._entries)

    def rename(self, key: str, title: str) -> bool:
        """Takes over another title; False if that is the one it had."""
        renamed = [
            ListedObject(key, title, entry.where, entry.kind) if entry.key == key else entry
            for entry in self._entries
        ]
        return self._set(renamed)

    def remove(self, key: str) -> bool:
        return self._set([entry for entry in self._entries if entry.key != key])

    def _set(self, entries: list[ListedObject]) -> bool:
        if entries == self._entries:
            return False
        self._entries = entries[: self._max]
        self._saver.save([asdict(entry) for entry in self._entries])
        return True


class RecentList(_ObjectList):
    """What was open lately, latest first."""

    def __init__(self, file: Path, in_background: InBackground | None = None) -> None:
        super().__init__(file, RECENT_MAX, in_background)

    def add(self, entry: ListedObject) -> None:
        """Puts an object in front; where it came from stays known if that is not told again."""
        known = next((each.where for each in self._entries if each.key == entry.key), "")
        others = [each for each in self._entries if each.key != entry.key]
        self._set([replace(entry, where=entry.where or known), *others])


class PinnedList(_ObjectList):
    """What the person has pinned, in that order."""

    def __init__(self, file: Path, in_background: InBackground | None = None) -> None:
        super().__init__(file, PINNED_MAX, in_background)

    def toggle(self, entry: ListedObject) -> bool:
        """Pins it, or takes it off; True if it is pinned now."""
        if entry.key in self:
            self.remove(entry.key)
            return False
        self._set([*self._entries, entry])
        return True


class OpenList:
    """The objects that are open, and which is in front: what a program that was killed opens again.

    Whatever ends the program while it restores ends it the next time too; so tries are counted
    until one is `settled`.
    """

    def __init__(self, file: Path, in_background: InBackground | None = None) -> None:
        self._saver = JsonSaver(file, in_background)
        stored = load_object(file)
        keys, front, tries = stored.get("objects"), stored.get("front"), stored.get("tries")
        known = [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []
        self.keys: tuple[str, ...] = tuple(known[:OPEN_MAX])
        self.front = front if isinstance(front, str) else ""
        self._tries = tries if isinstance(tries, int) and not isinstance(tries, bool) else 0

    @property
    def given_up(self) -> bool:
        """Whether it has failed too often."""
        return self._tries >= TRIES_MAX

    def trying(self) -> None:
        """Counts one more try, on the disk before it begins."""
        self._tries += 1
        self._saver.save_now(self._content())

    def settled(self) -> None:
        if self._tries:
            self._tries = 0
            self._saver.save(self._content())

    def set(self, keys: Sequence[str], front: str) -> None:
        if (tuple(keys), front) != (self.keys, self.front):
            self.keys, self.front = tuple(keys), front
            self._saver.save(self._content())

    def _content(self) -> dict[str, object]:
        return {"objects": list(self.keys), "front": self.front, "tries": self._tries}


def _read(file: Path) -> list[ListedObject]:
    return [
        ListedObject(
            entry["key"],
            entry["title"],
            str(entry.get("where", "")),
            str(entry.get("kind", "note")),
        )
        for entry in load_list(file)
        if isinstance(entry, dict)
        and isinstance(entry.get("key"), str)
        and isinstance(entry.get("title"), str)
    ]
