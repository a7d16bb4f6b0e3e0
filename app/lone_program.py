"""One program by itself, killed at random instants and given a full disk now and then.

Nobody else has its objects: what is there after a new start was on its disk.
"""

from __future__ import annotations

import random
import threading
from pathlib import Path

from app.driven_program import START_S, DrivenFailed, wait_until
from app.killing import Claims, kill_once
from app.players import Player, make_objects
from app.small_disk import SmallDisk

_DISK_MB = 96
_STEPS_PER_FULL_DISK = 8
_WRITES_MAX = 400
_SAVED_S = 60.0
# What the log of a program may say whose disk refuses.
_OF_A_DISK = ("could not be", "disk", "No space", "File too large")


class LoneProgram:
    """Attributes: `kills`, `full_disks`, `claims`, what was done and what was called saved."""

    def __init__(self, folder: Path, words: list[str], chance: random.Random) -> None:
        self._chance = chance
        folder.mkdir(parents=True)
        self.disk = SmallDisk(folder / "P0", _DISK_MB)
        self._player = Player(0, folder, make_objects(folder, words), None)
        self.claims = Claims()
        self.kills = 0
        self.full_disks = 0
        self.has_own_disk = self.disk.mounted

    def wait(self) -> None:
        wait_until("the lone program has its windows", self._player.is_ready, START_S)

    def step(self) -> None:
        """One kill, or now and then a full disk; raises DrivenFailed."""
        if (self.kills + self.full_disks) % _STEPS_PER_FULL_DISK == 1:
            self.fill_disk()
        else:
            self.kill_once()

    def kill_once(self) -> None:
        self.kills += 1
        kill_once(self._player, self._chance, self.claims, self._player.start_again)

    def fill_disk(self) -> None:
        """Fills the disk while it is written in; frees it; all must be saved then."""
        self.full_disks += 1
        process_id, marks = self._player.process.pid, list[str]()
        self.disk.fill(process_id)
        try:
            self._write_until_refused(marks)
        finally:
            self.disk.free(process_id)
        wait_until("all is saved that a full disk refused", self._is_saved, _SAVED_S)
        self.claims.add(sorted(self._player.contents()), marks)

    def _is_saved(self) -> bool:
        """All but what is typed into fields and not entered, such as a message."""
        objects = self._player.ask({"do": "describe"}).get("objects", [])
        return bool(objects) and all(one["shared"]["saved"] for one in objects)

    def _write_until_refused(self, marks: list[str]) -> None:
        """A log has some room left on a full disk, so that it may take a while."""
        for _ in range(_WRITES_MAX):
            self.claims.written += 1
            marks.append(f"{self._player.name}-k{self.claims.written}")
            request = {"do": "write", "seed": self._chance.getrandbits(30), "mark": marks[-1]}
            self._player.ask({**request, "edits": 20})
            self._player.check_alive()
            # Not what is called saved here: a page that is, and one that is not, can be both.
            if str(self._player.ask({"do": "describe"}).get("state", "")).startswith("not saved"):
                return
        raise DrivenFailed("The disk was full, and nothing was ever called not saved.")

    def log_errors(self) -> list[str]:
        """What it has logged beside the refusals of its disk."""
        return [line for line in self._player.log_errors() if not is_of_disk(line)]

    def end(self) -> None:
        self._player.end()
        self.disk.close()


def is_of_disk(line: str) -> bool:
    """A line may also end in the midst of a word, as there was no room for the rest of it."""
    refused = "liveobj.storage.document_" in line and " update " not in line
    return refused or any(words in line for words in _OF_A_DISK)


class LoneThread(threading.Thread):
    """Goes on with a lone program beside everything else. Attributes: `failure`, if it failed."""

    def __init__(self, lone: LoneProgram) -> None:
        super().__init__(daemon=True)
        self._lone = lone
        self._ends = threading.Event()
        self.failure: DrivenFailed | None = None

    def run(self) -> None:
        try:
            while not self._ends.is_set():
                self._lone.step()
        except DrivenFailed as failure:
            self.failure = failure

    def finish(self) -> None:
        """Waits for the last step; raises DrivenFailed if one of them failed."""
        self._ends.set()
        self.join()
        if self.failure is not None:
            raise self.failure
