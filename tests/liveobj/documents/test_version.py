"""Versions: what includes what, and what is missing."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.documents import BadUpdate, Version

versions = st.dictionaries(st.integers(0, 2**63 - 1), st.integers(1, 2**31 - 1)).map(Version)


@given(versions)
def test_a_version_survives_its_bytes(version: Version) -> None:
    assert Version.decode(version.encode()) == version


@given(versions, versions)
def test_a_merge_includes_both_and_nothing_is_missing_from_it(a: Version, b: Version) -> None:
    both = a.merged(b)
    assert both.includes(a)
    assert both.includes(b)
    assert list(a.missing_from(both)) == []
    assert both == b.merged(a)


@given(versions, versions)
def test_inclusion_is_having_nothing_missing(a: Version, b: Version) -> None:
    assert a.includes(b) == (not list(b.missing_from(a)))


@given(st.binary(max_size=60))
def test_other_bytes_are_refused_or_a_version(data: bytes) -> None:
    with contextlib.suppress(BadUpdate):
        Version.decode(data)


def test_nonsense_is_refused() -> None:
    with pytest.raises(BadUpdate, match="not a version"):
        Version.decode(b"\xff\xff\xff")
