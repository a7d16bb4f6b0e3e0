"""Owns reading a package that a stranger may have made: bounded, signed, complete, nothing more."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

from nacl.exceptions import CryptoError
from nacl.signing import VerifyKey

from liveobj.packages.building import MANIFEST_NAME, SIGNATURE_NAME, SIGNED_CONTEXT, file_hash
from liveobj.packages.errors import PackageProblem
from liveobj.packages.manifest import MANIFEST_BYTES_MAX, PATH_PATTERN, Manifest
from transport.sentences import worded

PACKAGE_BYTES_MAX = 64 * 1024 * 1024
UNPACKED_BYTES_MAX = 64 * 1024 * 1024
ENTRIES_MAX = 1000
RATIO_MAX = 100
# Below this size a high ratio is only a short text that repeats itself.
RATIO_APPLIES_FROM_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Package:
    """A package whose every byte is covered by its publisher's signature."""

    manifest: Manifest
    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        return file_hash(self.manifest.encode())


def read_package(data: bytes) -> Package:
    """Checks everything that can be checked without knowing whom to trust; raises
    PackageProblem."""
    if len(data) > PACKAGE_BYTES_MAX:
        raise PackageProblem(worded("The package is larger than 64 MiB."))
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = _entries(archive)
            manifest = _manifest(archive, entries)
            files = {
                path: _read(archive, entries[path], UNPACKED_BYTES_MAX)
                for path in manifest.files
                if path in entries
            }
    except PackageProblem:
        raise
    except Exception:
        # A damaged archive makes zipfile raise half a dozen kinds of errors, ValueError among them.
        raise PackageProblem(worded("The package is damaged, or no package.")) from None
    if files.keys() != manifest.files.keys():
        raise PackageProblem(worded("Files of the package are missing."))
    for path, content in files.items():
        if file_hash(content) != manifest.files[path]:
            raise PackageProblem(
                worded("The file {path} is not the one that was signed.", path=path)
            )
    if "__init__.py" not in files:
        raise PackageProblem(worded("There is nothing in the package that could be run."))
    return Package(manifest, files)


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    total = 0
    infos = archive.infolist()
    if len(infos) > ENTRIES_MAX:
        raise PackageProblem(worded("The package has more than {most} files.", most=ENTRIES_MAX))
    for info in infos:
        name = info.filename
        mode = info.external_attr >> 16
        if name in found:
            raise PackageProblem(worded("A file is in the package twice."))
        if not PATH_PATTERN.fullmatch(name) or info.orig_filename != name:
            raise PackageProblem(
                worded("The package has a file with the name {name}.", name=f"{name!r:.60}")
            )
        if info.is_dir() or (mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode)):
            raise PackageProblem(worded("{name} is not a plain file.", name=name))
        if info.flag_bits & 1:
            raise PackageProblem(worded("{name} is encrypted.", name=name))
        total += info.file_size
        limit = max(RATIO_APPLIES_FROM_BYTES, RATIO_MAX * info.compress_size)
        if total > UNPACKED_BYTES_MAX or info.file_size > limit:
            raise PackageProblem(worded("The package would become far larger than it looks."))
        found[name] = info
    return found


def _manifest(archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo]) -> Manifest:
    if MANIFEST_NAME not in entries or SIGNATURE_NAME not in entries:
        raise PackageProblem(worded("The package is not signed."))
    encoded = _read(archive, entries[MANIFEST_NAME], MANIFEST_BYTES_MAX)
    signature = _read(archive, entries[SIGNATURE_NAME], 64)
    manifest = Manifest.decode(encoded)
    try:
        VerifyKey(bytes.fromhex(manifest.publisher)).verify(SIGNED_CONTEXT + encoded, signature)
    except (CryptoError, ValueError):
        raise PackageProblem(worded("The package was changed after it was signed.")) from None
    strangers = entries.keys() - manifest.files.keys() - {MANIFEST_NAME, SIGNATURE_NAME}
    if strangers:
        raise PackageProblem(
            worded("{value} was added after the package was signed.", value=min(strangers))
        )
    return manifest


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, bytes_max: int) -> bytes:
    """What an entry says of its size is not believed."""
    with archive.open(info) as file:
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max or len(data) != info.file_size:
        raise PackageProblem(worded("{filename} is larger than it says.", filename=info.filename))
    return data
