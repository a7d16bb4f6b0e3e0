"""The short spelling of a reference: the same reference again, or one clear sentence."""

from __future__ import annotations

import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.objects.text_note import new_note
from liveobj.references import ReferenceProblem
from liveobj.references.compact import (
    PREFIX,
    _decode,
    _encode,
    compact_text,
    is_compact,
    read_compact,
)
from liveobj.references.xml_tree import SIZE_BYTES_MAX


def test_a_reference_comes_back_whole() -> None:
    note = new_note("Größe 漢 😀", random.Random(3).randbytes)
    text = compact_text(note)
    assert is_compact(text)
    assert read_compact(f"  {text}\n") == note
    assert len(text) < 800


def test_the_end_of_the_line_does_not_matter() -> None:
    for seed in range(200):
        note = new_note("x" * (seed % 7), random.Random(seed).randbytes)
        assert read_compact(compact_text(note).strip()) == note


@given(st.binary(max_size=300))
def test_the_45_characters_carry_any_bytes(data: bytes) -> None:
    assert _decode(_encode(data)) == data


def test_it_is_the_spelling_of_the_standard() -> None:
    assert _encode(b"Hello!!") == "%69 VD92EX0"
    assert _encode(b"AB") == "BB8"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "A",
        "äöü",
        "ZZZ",
        "0123456789",
        _encode(b"not zlib"),
        _encode(zlib.compress(b"<nonsense/>")),
        _encode(zlib.compress(b"x" * (SIZE_BYTES_MAX + 10))),
        _encode(zlib.compress(b"<a/>")[:-3]),
        "0" * (3 * SIZE_BYTES_MAX),
    ],
)
def test_anything_else_is_refused_with_a_sentence(body: str) -> None:
    with pytest.raises(ReferenceProblem) as problem:
        read_compact(PREFIX + body)
    assert str(problem.value).endswith(".")
