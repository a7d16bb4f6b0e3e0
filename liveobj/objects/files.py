"""Owns shared files: real files that several people keep together, with their older versions.

The document holds names, sizes and hashes; contents move between those who are there, and are
checked against the hash. What was replaced or removed stays in the document's history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from liveobj.contents.exchange import ContentExchange
from liveobj.contents.store import is_content_name
from liveobj.declare import live_object
from liveobj.documents import DocumentError, Map
from liveobj.documents.observing import Plain
from liveobj.host import Host
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.file_names import safe_name
from liveobj.objects.shared_document import SharedDocument, describe_shared, new_shared
from liveobj.references import Parameterized, Reference
from transport.sentences import worded

TEMPLATE_ID = "live-objects:files"
FILE_BYTES_MAX = 4 * 1024**3
FILES_MAX = 5000
# Smaller ones come by themselves, larger ones when somebody asks for them.
BY_ITSELF_BYTES_MAX = 64 * 1024**2
_TIME_MAX = 253_402_300_799


@dataclass(frozen=True, slots=True)
class FileVersion:
    """One content of a file; `author` is the name of whoever put it in, `seconds` when, since
    1970."""

    key: str
    content: str
    size: int
    author: str
    seconds: int

    @property
    def place(self) -> tuple[int, str]:
        return self.seconds, self.key


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A file; `name` is harmless, `versions` newest first and never empty."""

    identity: str
    name: str
    versions: tuple[FileVersion, ...]

    @property
    def newest(self) -> FileVersion:
        return self.versions[0]


def new_files(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of shared files that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


def read_version(key: str, value: Plain) -> FileVersion | None:
    """A version as somebody wrote it into the document; None for what cannot be one."""
    if not isinstance(value, dict):
        return None
    content, size, author, at = (value.get(f) for f in ("content", "size", "author", "at"))
    if not isinstance(content, str) or not is_content_name(content):
        return None
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= FILE_BYTES_MAX:
        return None
    seconds = at if isinstance(at, int) and not isinstance(at, bool) else 0
    name = " ".join(author.split())[:100] if isinstance(author, str) else ""
    return FileVersion(key, content, size, name, min(max(seconds, 0), _TIME_MAX))


class SharedFiles(SharedDocument):
    """Files that are open here. Attributes: `names` and `versions` (the maps) and `exchange`. What
    edits raises DocumentError, and changes nothing, when it is refused."""

    def prepare(self) -> None:
        self.names: Map = self.document.map("names")
        self.versions: Map = self.document.map("versions")

    def begin(self) -> None:
        """Once the object is open: offers what is here, and fetches what should be."""
        self.exchange = ContentExchange(self, self._host)
        self._watching = [
            self.names.observe(lambda _: self.look_for_contents()),
            self.versions.observe(lambda _: self.look_for_contents()),
        ]
        self.look_for_contents()

    def close(self) -> None:
        for subscription in self._watching:
            subscription.close()
        self.exchange.close()
        super().close()

    def look_for_contents(self) -> None:
        """Offers every version that is here; fetches the newest ones that are not too large."""
        for file in self.files():
            for version in file.versions:
                self.exchange.offer(version.content)
            if file.newest.size <= BY_ITSELF_BYTES_MAX:
                self.exchange.want(file.newest.content, file.newest.size)

    # Reading

    def files(self) -> list[SharedFile]:
        """Every file that can be read, by name."""
        names = self.names.to_dict()
        versions: dict[str, list[FileVersion]] = {}
        for key, value in self.versions.to_dict().items():
            version = read_version(key, value)
            if version is not None:
                versions.setdefault(key.partition("/")[0], []).append(version)
        found = [
            SharedFile(
                identity,
                safe_name(names[identity]),
                tuple(sorted(versions[identity], key=lambda each: each.place, reverse=True)),
            )
            for identity in sorted(names)[:FILES_MAX]
            if identity in versions
        ]
        return sorted(found, key=lambda file: (file.name.lower(), file.identity))

    def file(self, identity: str) -> SharedFile | None:
        return next((file for file in self.files() if file.identity == identity), None)

    # Intents

    def put(self, name: str, content: str, size: int) -> str:
        """Puts a file in, whose content is in the store; returns what it is known by. One of the
        same name gets a new version."""
        name = safe_name(name)
        known = next((file for file in self.files() if file.name == name), None)
        identity = known.identity if known is not None else self._host.random_bytes(8).hex()
        if known is None and len(self.names) >= FILES_MAX:
            raise DocumentError(worded("There are at most {most} files.", most=FILES_MAX))
        if known is not None and known.newest.content == content:
            return identity
        now = 0 if self._host.wall_time is None else int(self._host.wall_time())
        last = known.newest.seconds + 1 if known is not None else 0
        version: dict[str, Plain] = {
            "content": content,
            "size": size,
            "author": self.presence.mine.name,
            "at": max(now, last),
        }
        self.document.undo_boundary()
        with self.document.transaction("put"):
            self.names.set(identity, name)
            self.versions.set(f"{identity}/{self._host.random_bytes(6).hex()}", version)
        return identity

    def bring_back(self, identity: str, version: FileVersion) -> None:
        """Makes an older version the newest again."""
        file = self.file(identity)
        if file is None:
            raise DocumentError(worded("That file is not there any more."))
        self.put(file.name, version.content, version.size)

    def rename_file(self, identity: str, name: str) -> None:
        """Gives a file another name."""
        if self.file(identity) is None:
            raise DocumentError(worded("That file is not there any more."))
        if not name.strip() or any(f.name == safe_name(name) for f in self.files()):
            raise DocumentError(worded("Another name is needed: there is none, or it is taken."))
        self.document.undo_boundary()
        with self.document.transaction("rename"):
            self.names.set(identity, safe_name(name))

    def remove(self, identities: Iterable[str]) -> None:
        """Takes files out; undo brings them back, with all versions."""
        self.document.undo_boundary()
        with self.document.transaction("remove"):
            for identity in identities:
                self.names.remove(identity)


def open_files(reference: Reference, host: Host) -> SharedFiles:
    """Raises ReferenceProblem for a reference that is not one to shared files, StorageError if the
    disk refuses."""
    files = SharedFiles(reference, host, describe_shared(reference, TEMPLATE_ID, "shared files"))
    files.begin()
    return files


@live_object(TEMPLATE_ID, title="Shared files")
class FilesObject(DocumentProxy):
    """Real files that several people keep together."""

    _template_id = TEMPLATE_ID
    _kind = "shared files"

    def open_shared(self) -> SharedFiles:
        return open_files(self.context.reference, self.context.host)
