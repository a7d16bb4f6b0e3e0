"""The verdict on landed files, for every way in which one can be wrong."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest import verify
from pipeline.ingest.verify import verify_bytes
from pipeline.landing.naming import digest_of
from pipeline.landing.parquet_file import ARROW_SCHEMA, parquet_bytes
from tests.pipeline.tables import table_of


def rows(*ordinals: int, segment: str | None = "s") -> bytes:
    return parquet_bytes(table_of([{"segment": segment, "ordinal": each} for each in ordinals]))


def named(data: bytes) -> str:
    return f"x-{digest_of(data)}.parquet"


def judged(data: bytes, *, whole: bool = False) -> verify.Verdict:
    return verify_bytes(named(data), data, whole=whole)


GOOD = rows(0, 1, 2)


def test_whole_file_is_good() -> None:
    assert judged(GOOD) == verify.Verdict(verify.GOOD, "s", 3, repeated=False)
    assert judged(GOOD, whole=True) == judged(GOOD)


def test_repeated_places_are_noticed() -> None:
    assert judged(rows(0, 1, 1)).repeated
    assert judged(rows(1, 0)).repeated


def test_file_of_no_collector_is_refused() -> None:
    assert verify_bytes("notes.parquet", GOOD).verdict == verify.NAME


@given(st.integers(0, len(GOOD) - 1))
def test_file_cut_anywhere_is_refused(length: int) -> None:
    assert verify_bytes(named(GOOD), GOOD[:length]).verdict == verify.DIGEST
    assert judged(GOOD[:length]).verdict == verify.UNREADABLE


@given(st.integers(0, len(GOOD) * 8 - 1))
def test_every_flipped_bit_is_noticed(bit: int) -> None:
    hurt = bytearray(GOOD)
    hurt[bit // 8] ^= 1 << bit % 8
    assert verify_bytes(named(GOOD), bytes(hurt)).verdict == verify.DIGEST


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    assert judged(data, whole=True).verdict == verify.UNREADABLE


def test_other_columns_are_refused() -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"segment": ["s"], "ordinal": [0]}), sink)
    assert judged(sink.getvalue().to_pybytes()).verdict == verify.COLUMNS
    wrong = pa.schema(
        [
            pa.field(field.name, pa.string() if field.name == "time_ns" else field.type)
            for field in ARROW_SCHEMA
        ]
    )
    sink = pa.BufferOutputStream()
    pq.write_table(wrong.empty_table(), sink)
    assert judged(sink.getvalue().to_pybytes()).verdict == verify.COLUMNS


def test_no_segment_and_several_are_refused() -> None:
    assert judged(rows()).verdict == verify.MIXED
    assert judged(rows(0, segment=None)).verdict == verify.MIXED
    two = table_of([{"segment": "a", "ordinal": 0}, {"segment": "b", "ordinal": 1}])
    assert judged(parquet_bytes(two)).verdict == verify.MIXED
    assert judged(parquet_bytes(table_of([{"segment": "a"}]))).verdict == verify.COLUMNS
