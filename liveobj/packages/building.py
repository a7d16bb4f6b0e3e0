"""Owns making a package: hashing its files and signing its manifest."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from hashlib import blake2b
from io import BytesIO

from nacl.signing import SigningKey

from liveobj.packages.manifest import Manifest

MANIFEST_NAME = "manifest.json"
SIGNATURE_NAME = "manifest.sig"
SIGNED_CONTEXT = b"live-objects package 1\0"


def file_hash(data: bytes) -> str:
    return blake2b(data, digest_size=32, person=b"live-objects-pkg").hexdigest()


def build_package(
    name: str,
    version: int,
    files: Mapping[str, bytes],
    objects: Mapping[str, str],
    signing_key: bytes,
    *,
    expires: int,
    title: str = "",
    confined: bool = False,
) -> bytes:
    """The bytes of a signed package; `files` must include `__init__.py`, which is imported."""
    key = SigningKey(signing_key)
    manifest = Manifest(
        name=name,
        version=version,
        publisher=bytes(key.verify_key).hex(),
        expires=expires,
        files={path: file_hash(data) for path, data in files.items()},
        objects=dict(objects),
        title=title or name,
        confined=confined,
    )
    encoded = manifest.encode()
    return pack(files, encoded, bytes(key.sign(SIGNED_CONTEXT + encoded).signature))


def pack(files: Mapping[str, bytes], manifest: bytes, signature: bytes) -> bytes:
    """A ZIP archive in which the same content always gives the same bytes."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        entries = {MANIFEST_NAME: manifest, SIGNATURE_NAME: signature, **files}
        for path, data in entries.items():
            info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, data, compress_type=zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
