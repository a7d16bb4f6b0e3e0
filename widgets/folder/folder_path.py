"""The folders that one came through to the one that is shown, each opened in place."""

from __future__ import annotations

from collections.abc import Sequence

from liveobj.objects.shared_folder import Folder
from liveobj.opening import Opening
from liveobj.references import Reference, fingerprint
from widgets.object_view import Surroundings

_DEPTH_MAX = 50


class FolderPath:
    """Attributes: `openings`, from the object itself to the folder that is shown."""

    def __init__(self, around: Surroundings, opening: Opening) -> None:
        self._around = around
        self.openings: list[Opening] = [opening]

    @property
    def folder(self) -> Folder:
        shared = self.openings[-1].shared
        assert isinstance(shared, Folder)
        return shared

    @property
    def depth(self) -> int:
        """0 is the object itself."""
        return len(self.openings) - 1

    def titles(self) -> list[str]:
        return [opening.title for opening in self.openings]

    def depth_of(self, reference: Reference) -> int | None:
        """Where on the path that folder is; None: not on it."""
        identity = fingerprint(reference)
        for depth, opening in enumerate(self.openings):
            if opening.identity == identity:
                return depth
        return None

    def enter(self, reference: Reference) -> bool:
        """Goes into a folder; False when that is too deep. Raises Problem when it does not open."""
        if len(self.openings) >= _DEPTH_MAX:
            return False
        self.openings.append(self._around.open(reference))
        return True

    def go_to(self, depth: int) -> Sequence[Opening]:
        """Back to a folder of the path; what was left by that, for `close_all`."""
        if not 0 <= depth < self.depth:
            return []
        left = self.openings[depth + 1 :]
        del self.openings[depth + 1 :]
        return left


def close_all(left: Sequence[Opening]) -> None:
    for opening in reversed(left):
        opening.close()
