"""The compiled package offers the public header's functions and nothing else."""

from __future__ import annotations

import re

import native
from native import build_engine


def test_package_exposes_lib_and_ffi_only() -> None:
    assert native.__all__ == ["ffi", "lib"]


def test_every_function_of_the_header_is_in_the_library() -> None:
    text = build_engine.declarations(build_engine.HEADER.read_text(encoding="utf-8"))
    declared = set(re.findall(r"\b(qsm_\w+)\s*\([^;{]*\)\s*;", text))
    assert declared
    assert declared <= set(dir(native.lib))
