"""Owns the manifest of a package: what it is, what is in it, who made it, until when it is
valid."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from liveobj.packages.errors import PackageProblem
from liveobj.references.model import ID_PATTERN
from transport.sentences import worded

MANIFEST_BYTES_MAX = 256 * 1024
FORMAT = 1
NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,63}")
PATH_PATTERN = re.compile(
    r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}/){0,8}[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
)
_HEX_32 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """`version` only grows; `expires` is in seconds since 1970; `files` has the BLAKE2b hash of
    each file by its path; `objects` names what can be asked for, by the id of its class. The code
    of a `confined` package runs in a process of its own, without network or files."""

    name: str
    version: int
    publisher: str
    expires: int
    files: Mapping[str, str]
    objects: Mapping[str, str]
    title: str = ""
    confined: bool = False

    def encode(self) -> bytes:
        """The one spelling that is signed."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "name": self.name,
            "version": self.version,
            "publisher": self.publisher,
            "expires": self.expires,
            "files": dict(self.files),
            "objects": dict(self.objects),
            "title": self.title,
        }
        if self.confined:
            content["confined"] = True
        return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def decode(cls, data: bytes) -> Manifest:
        """Raises PackageProblem unless every part is what it should be."""
        if len(data) > MANIFEST_BYTES_MAX:
            raise PackageProblem(worded("The list of what is in the package is too long."))
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            raise PackageProblem(worded("The package does not say what it is.")) from None
        if not isinstance(content, dict):
            raise PackageProblem(worded("The package does not say what it is."))
        if content.get("format") != FORMAT:
            raise PackageProblem(
                worded("The package is of a form that this version does not know.")
            )
        manifest = cls(
            name=_text(content, "name", NAME_PATTERN),
            version=_number(content, "version"),
            publisher=_text(content, "publisher", _HEX_32),
            expires=_number(content, "expires"),
            files=_mapping(content, "files", PATH_PATTERN, _HEX_32),
            objects=_mapping(content, "objects", re.compile(r".{1,100}"), ID_PATTERN),
            title=str(content.get("title", ""))[:100],
            confined=content.get("confined") is True,
        )
        if manifest.encode() != data:
            raise PackageProblem(worded("The package says what it is in an unusual way."))
        return manifest


def _text(content: dict[str, Any], name: str, pattern: re.Pattern[str]) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise PackageProblem(worded("The package's '{name}' is not in order.", name=name))
    return value


def _number(content: dict[str, Any], name: str) -> int:
    value = content.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise PackageProblem(worded("The package's '{name}' is not in order.", name=name))
    return value


def _mapping(
    content: dict[str, Any], name: str, keys: re.Pattern[str], values: re.Pattern[str]
) -> dict[str, str]:
    found = content.get(name)
    if not isinstance(found, dict):
        raise PackageProblem(worded("The package's '{name}' are not in order.", name=name))
    for key, value in found.items():
        if not keys.fullmatch(key) or not isinstance(value, str) or not values.fullmatch(value):
            raise PackageProblem(worded("The package's '{name}' are not in order.", name=name))
    return found
