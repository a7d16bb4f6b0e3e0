"""CSV files: any dialect and encoding in, one that every program reads out."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj import csv_text
from liveobj.csv_text import CsvProblem, find_separator, read_csv, write_csv

ROWS = [["Name", "Price"], ["Käse", "1,50"], ["Brot; dunkel", '2 "gross"'], ["", "x\ny"]]

TEXTS = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), max_size=8
)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_dialects_and_encodings_are_found_out(separator: str, encoding: str) -> None:
    data = write_csv(ROWS, separator).encode(encoding)
    assert read_csv(data, 100, 100) == ROWS


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(TEXTS, min_size=n, max_size=n))))
def test_what_is_written_is_read_back(rows: list[list[str]]) -> None:
    assert read_csv(write_csv(rows, harmless=False).encode(), 1000, 100) == rows


@pytest.mark.parametrize("text", ["=1+1", "+x", "-y", "@z", "\tt", "=HYPERLINK(1)"])
def test_what_others_would_run_is_marked(text: str) -> None:
    assert read_csv(write_csv([[text, "-5", "+3.5"]]).encode(), 9, 9) == [
        ["'" + text, "-5", "+3.5"]
    ]


@given(st.binary(max_size=300))
def test_any_bytes_are_rows_or_a_sentence(data: bytes) -> None:
    with suppress(CsvProblem):
        rows = read_csv(data, 50, 20)
        assert all(isinstance(field, str) for row in rows for field in row)


def test_bounds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CsvProblem, match="more than 2 rows"):
        read_csv(b"a\nb\nc\n", 2, 5)
    with pytest.raises(CsvProblem, match="more than 2 columns"):
        read_csv(b"a,b,c\n", 5, 2)
    with pytest.raises(CsvProblem, match="not a text"):
        read_csv(b"\x00\x01\x02\xff\xfe\x80\x90" * 3, 5, 5)
    with pytest.raises(CsvProblem, match="cannot be read"):
        read_csv(b'"' + b"x" * 200_000, 5, 5)
    monkeypatch.setattr(csv_text, "BYTES_MAX", 10)
    with pytest.raises(CsvProblem, match="larger"):
        read_csv(b"x" * 11, 5, 5)


def test_one_column_has_no_separator() -> None:
    assert find_separator("one\ntwo\nthree\n") == ","
    assert read_csv(b"one\ntwo\n", 5, 5) == [["one"], ["two"]]
