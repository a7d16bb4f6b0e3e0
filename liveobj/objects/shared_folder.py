"""Owns the shared folder: references by name that several people keep together.

A reference is kept whole, keys included: whoever may see into a folder may open what is in it, in
the form in which it was put there. Put the can-view form into folders that more people can see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.documents import DocumentError, Map, MapChange
from liveobj.documents.observing import Plain
from liveobj.host import Host
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.shared_document import SharedDocument, describe_shared, new_shared
from liveobj.objects.standard_types import FolderEndpoint, FolderType
from liveobj.observers import Subscription
from liveobj.references import (
    Parameterized,
    Reference,
    ReferenceProblem,
    read_reference,
    write_reference,
)
from transport.sentences import worded

TEMPLATE_ID = "live-objects:shared-folder"
CONTENT = "content"
NAME_CHARACTERS_MAX = 200
ENTRIES_MAX = 10_000


def new_folder(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of a folder that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One thing in a folder; where the reference cannot be read, `problem` is a sentence."""

    name: str
    reference: Reference | None
    problem: str = ""


def read_entry(name: str, value: Plain) -> FolderEntry:
    """What somebody put under a name, whatever it is."""
    if not isinstance(value, bytes):
        return FolderEntry(name, None, "It is not a reference.")
    try:
        return FolderEntry(name, read_reference(value))
    except ReferenceProblem as problem:
        return FolderEntry(name, None, str(problem))


class Folder(SharedDocument):
    """A folder that is open here. Attributes: `content`, references as bytes by name. What edits
    raises DocumentError, and changes nothing, when it is refused."""

    content: Map

    def prepare(self) -> None:
        self.content = self.document.map(CONTENT)

    def entries(self) -> list[FolderEntry]:
        """Everything in it, by name; reading is bounded, and nothing of it runs."""
        found = self.content.to_dict()
        return [read_entry(name, found[name]) for name in sorted(found)[:ENTRIES_MAX]]

    def put(self, name: str, reference: Reference) -> str:
        """Puts a reference under a name that is still free, like the one wished for; returns
        it."""
        free = self._free_name(name)
        self.document.undo_boundary()
        with self.document.transaction("put"):
            self.content.set(free, write_reference(reference))
        return free

    def rename_entry(self, name: str, new: str) -> None:
        """Gives something in the folder another name."""
        value = self.content.get(name)
        new = _checked(new)
        if value is None:
            raise DocumentError(worded("'{name}' is not there any more.", name=name))
        if new == name:
            return
        if new in self.content:
            raise DocumentError(worded("There is something called '{new}' already.", new=new))
        self.document.undo_boundary()
        with self.document.transaction("rename"):
            self.content.set(new, value)
            self.content.remove(name)

    def remove(self, names: Iterable[str]) -> None:
        """Takes things out of the folder; they themselves stay what they are."""
        self.document.undo_boundary()
        with self.document.transaction("remove"):
            for name in names:
                self.content.remove(name)

    def _free_name(self, name: str) -> str:
        base = _checked(name)
        free, number = base, 1
        while free in self.content:
            number += 1
            free = f"{base[: NAME_CHARACTERS_MAX - 8]} ({number})"
        return free


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_CHARACTERS_MAX:
        raise DocumentError(worded("A name has 1 to {most} characters.", most=NAME_CHARACTERS_MAX))
    return name


def open_folder(reference: Reference, host: Host) -> Folder:
    """Raises ReferenceProblem for a reference that is not a folder's, StorageError if the disk
    refuses."""
    return Folder(reference, host, describe_shared(reference, TEMPLATE_ID, "shared folder"))


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

    def open_shared(self) -> Folder:
        return open_folder(self.context.reference, self.context.host)

    @property
    def content(self) -> Map:
        content: Map = self.shared.content
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
