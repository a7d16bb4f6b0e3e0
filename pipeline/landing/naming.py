"""The name of a landed file: a stem, and the digest of all its bytes.

The digest says whether what is read later is what was written; the same segment gives the same
bytes and so the same name: landing it twice changes nothing.
"""

from __future__ import annotations

import hashlib
import re

SUFFIX = ".parquet"
ROW_GROUP_ROWS = 65_536
_NAME = re.compile(r"(?P<stem>[\w.-]{1,180})-(?P<digest>[0-9a-f]{16})\.parquet")


def digest_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def digest_in(name: str) -> str | None:
    """The digest that a file's name promises; None where the name is not of this form."""
    match = _NAME.fullmatch(name)
    return match["digest"] if match else None


def landed_name(stem: str, data: bytes) -> str:
    return f"{stem}-{digest_of(data)}{SUFFIX}"
