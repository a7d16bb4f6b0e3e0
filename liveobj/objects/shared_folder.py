"""Owns the shared folder: references by name that several people keep together.

A reference is kept whole, keys included: whoever may see into a folder may open what is in it, in
the form in which it was put there. Put the can-view form into folders that more people can see.
"""

from __future__ import annotations

from collections.abc import Callable

from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.documents import Map, MapChange
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.shared_document import new_shared
from liveobj.objects.standard_types import FolderEndpoint, FolderType
from liveobj.observers import Subscription
from liveobj.references import (
    Parameterized,
    Reference,
    ReferenceProblem,
    read_reference,
    write_reference,
)

TEMPLATE_ID = "live-objects:shared-folder"
CONTENT = "content"


def new_folder(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of a folder that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


@endpoint_type("live-objects:folder-editor", provides="state channel; edited by its editors")
class FolderEditorEndpoint:
    """For those who show a folder and change what is in it."""

    @incoming
    def put(self, name: str, reference: Reference) -> None:
        """Puts a reference under a name."""

    @incoming
    def remove(self, name: str) -> None:
        """Takes a name out."""

    @outgoing
    def names(self, names: list[str]) -> None:
        """All names, after they have changed and once when connected."""


@live_object(TEMPLATE_ID, title="Shared folder", is_a=(FolderType,))
class SharedFolder(DocumentProxy):
    """References that several people keep together."""

    folder: FolderEndpoint
    editor: FolderEditorEndpoint

    _template_id = TEMPLATE_ID
    _kind = "shared folder"

    @property
    def content(self) -> Map:
        content: Map = self.shared.document.map(CONTENT)
        return content

    def watch(self) -> list[Subscription]:
        return [self.content.observe(self._tell)]

    def _tell(self, _change: MapChange) -> None:
        self.editor.names(list(self.content))

    def on_editor_connected(self) -> None:
        self.editor.names(list(self.content))

    def on_editor_put(self, name: str, reference: Reference) -> None:
        self.edit(lambda: self.content.set(name, write_reference(reference)))

    def on_editor_remove(self, name: str) -> None:
        self.edit(lambda: self.content.remove(name))

    def on_folder_get(self, name: str) -> None:
        found = self.content.get(name)
        try:
            if isinstance(found, bytes):
                self.folder.item(name, read_reference(found))
                return
        except ReferenceProblem as problem:
            self.context.notice(f"'{name}' cannot be read. {problem}")
        self.folder.missing(name)
