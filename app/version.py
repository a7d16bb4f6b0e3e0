"""The version of the program, as its package says it."""

from __future__ import annotations

from importlib import metadata


def _read() -> str:
    try:
        return metadata.version("live-objects")
    except metadata.PackageNotFoundError:
        return "not installed"


VERSION = _read()
