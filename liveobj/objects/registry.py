"""Owns the registry: names that this person has given to references on this machine (2.1.5 D2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from liveobj.declare import live_object
from liveobj.objects.standard_types import FolderEndpoint, FolderType
from liveobj.references import (
    Reference,
    ReferenceProblem,
    read_reference_file,
    write_reference_file,
)
from liveobj.references.errors import NotReadable
from liveobj.runtime.context import Context

TEMPLATE_ID = "live-objects:registry"
FOLDER_NAME = "registry"
SUFFIX = ".liveobject"
NAME_BYTES_MAX = 200


class UserRegistry:
    """One file a name, so that people can see and edit it with what they have."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, name: str) -> Path:
        encoded = quote(name, safe=" ")
        if not name or len(encoded) > NAME_BYTES_MAX:
            raise NotReadable(f"{name!r:.60} cannot be a name in the registry.")
        # quote leaves dots alone, and a name of dots is a way out of the folder
        return self._folder / (encoded.replace(".", "%2E") + SUFFIX)

    def get(self, name: str) -> Reference | None:
        """Raises ReferenceProblem if there is something that cannot be read."""
        path = self._path(name)
        return read_reference_file(path) if path.exists() else None

    def set(self, name: str, reference: Reference) -> None:
        path = self._path(name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise NotReadable(f"The registry cannot be made ({problem.strerror}).") from problem
        write_reference_file(reference, path)

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[str]:
        if self._folder.is_dir():
            for path in sorted(self._folder.glob(f"*{SUFFIX}")):
                yield unquote(path.name.removesuffix(SUFFIX))


@live_object(TEMPLATE_ID, title="Registry", is_a=(FolderType,))
class Registry:
    """The names given on this machine."""

    context: Context
    folder: FolderEndpoint

    def on_folder_get(self, name: str) -> None:
        try:
            found = UserRegistry(self.context.host.folder / FOLDER_NAME).get(name)
        except ReferenceProblem as problem:
            self.context.notice(str(problem))
            found = None
        if found is None:
            self.folder.missing(name)
        else:
            self.folder.item(name, found)
