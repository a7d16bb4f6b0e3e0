"""Segments of event logs: what was altered or cut off is noticed, and costs no more than itself."""

from __future__ import annotations

import random
import struct
import zlib

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transport.event_logs import sample_segment
from transport.event_log_schema import (
    FRAME_BYTES,
    MARK,
    SCHEMA,
    Damage,
    Record,
    Row,
    frame,
    read_segment,
)


def test_every_flipped_bit_is_detected_and_costs_one_record_at_most() -> None:
    whole = sample_segment(6)
    good = list(read_segment(whole))
    source = random.Random(1)
    for _ in range(10_000):
        bit = source.randrange(len(whole) * 8)
        hurt = bytearray(whole)
        hurt[bit // 8] ^= 1 << bit % 8
        damage = Damage()
        left = list(read_segment(hurt, damage))
        assert damage.places == 1
        assert len(left) == len(good) - 1
        assert all(row in good for row in left)


def test_segment_cut_anywhere_gives_all_whole_records() -> None:
    whole = sample_segment()
    good = list(read_segment(whole))
    for length in range(len(whole)):
        damage = Damage()
        left = list(read_segment(whole[:length], damage))
        assert left == good[: len(left)]
        assert damage.torn_tail == (damage.bytes > 0)
        assert length - damage.bytes == len(b"".join(_frames(whole)[: len(left)]))


def _frames(whole: bytes) -> list[bytes]:
    return [MARK + part for part in whole.split(MARK)[1:]]


def test_reader_goes_on_behind_rubbish() -> None:
    whole = sample_segment(2)
    damage = Damage()
    mixed = b"rubbish" + MARK + whole + MARK * 3 + b"\0" * 100 + whole
    assert len(list(read_segment(mixed, damage))) == 6
    assert damage.places == 2
    assert not damage.torn_tail


def test_file_of_nothing_but_marks_is_given_up_soon() -> None:
    damage = Damage()
    hostile = (MARK + b"\0\0\1\0" + b"\1\2\3\4") * 20_000
    assert list(read_segment(hostile, damage)) == []
    assert damage.bytes == len(hostile)


@given(st.binary(max_size=400))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    assert list(read_segment(data)) == []
    framed = _framed(data)
    assert all(isinstance(row, Row) for row in read_segment(framed))


def _framed(payload: bytes) -> bytes:
    honest = frame(Record.LOST, 0, (0,))
    head = struct.pack("<4sII", MARK, len(payload), zlib.crc32(payload, len(payload)))
    assert len(head) == FRAME_BYTES < len(honest)
    return head + payload


@pytest.mark.parametrize(
    "values",
    [
        7,
        [],
        [2],
        [99, 0],
        ["2", 0, 1, 2, 3],
        [True, 0, 1, 2, 3],
        [2, "0", 1, 2, 3],
        [2, 0, 1, 2],
        [2, 0, 1, 2, "3"],
        [2, 0, 1, 2, True],
        {"kind": 2},
    ],
)
def test_what_is_no_known_record_is_passed_over(values: object) -> None:
    damage = Damage()
    assert list(read_segment(_framed(msgpack.packb(values)), damage)) == []
    assert (damage.unknown_records, damage.places) == (1, 0)


def test_record_of_a_newer_version_keeps_what_is_known() -> None:
    (row,) = read_segment(_framed(msgpack.packb([2, 5, 1, 2, 3, "new"])))
    assert row == Row(Record.HEALTH, 5, {"node": 1, "health": 2, "reason": 3})


def test_every_record_has_its_columns() -> None:
    assert set(SCHEMA) == set(Record)
    for fields in SCHEMA.values():
        names = [column.name for column in fields]
        assert len(set(names)) == len(names)
