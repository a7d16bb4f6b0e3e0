"""The wire form of channel messages, and what is refused."""

from __future__ import annotations

import contextlib

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.channels.fragments import Assembler, Cutter
from liveobj.channels.messages import (
    MESSAGE_BYTES_MAX,
    BadMessage,
    Fragment,
    Hello,
    Message,
    PresenceUpdate,
    Update,
    decode,
    encode,
)
from liveobj.documents import Version


@pytest.mark.parametrize(
    "message",
    [
        Hello(2**63 - 1, Version({1: 2, 3: 4}), can_answer=False),
        Update(b"data", b"s" * 64),
        PresenceUpdate({"name": "Ada", "colour": "#123456"}),
        Fragment(0, 10, b"piece"),
    ],
)
def test_a_message_survives_its_bytes(message: Message) -> None:
    assert decode(encode(message)) == message


def pack(kind: int, body: object) -> bytes:
    return bytes([kind]) + msgpack.packb(body)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        b"\x63\x90",
        pack(1, {}),
        pack(1, [1, b"\xff\xff", True]),
        pack(1, [-1, Version().encode(), True]),
        pack(1, ["1", Version().encode(), True]),
        pack(1, [1, Version().encode()]),
        pack(2, [b"x"]),
        pack(2, ["text", b""]),
        pack(2, [b"x", b"s" * 65]),
        pack(3, [[]]),
        pack(3, [{1: 2}]),
        pack(3, [{str(i): i for i in range(100)}]),
        pack(4, [5, 5, b"x"]),
        pack(4, [-1, 5, b"x"]),
        pack(4, [0, 5, b""]),
        pack(9, [1]),
        b"\x02" + b"\x91" * 5000,
        b"\x02\xdd\xff\xff\xff\xff",
        b"\x02" + msgpack.packb([b"x", b""]) + b"more",
    ],
)
def test_what_is_not_a_message_is_refused(data: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(data)


@given(st.binary(max_size=100))
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    with contextlib.suppress(BadMessage):
        decode(data)


@given(st.binary(min_size=1, max_size=3000), st.lists(st.integers(18, 400), min_size=1))
def test_pieces_fit_whatever_the_room_and_make_the_whole(data: bytes, rooms: list[int]) -> None:
    whole = encode(Update(data))
    cutter, assembler = Cutter(whole), Assembler()
    result = None
    for turn in range(len(whole) + 1):
        room = rooms[turn % len(rooms)]
        piece = cutter.next_piece(room)
        assert piece is not None
        assert len(piece) <= room
        message = decode(piece)
        result = assembler.add(7, message) if isinstance(message, Fragment) else piece
        if cutter.finished:
            break
        assert result is None
    assert result == whole


def test_no_room_at_all_gives_nothing_and_loses_nothing() -> None:
    cutter = Cutter(b"x" * 100)
    assert cutter.next_piece(10) is None
    assert cutter.next_piece(100) == b"x" * 100


def test_pieces_of_a_message_that_began_before_one_came_are_skipped() -> None:
    assembler = Assembler()
    assert assembler.add(1, Fragment(50, 100, b"x" * 50)) is None
    assert assembler.add(1, Fragment(0, 2, b"ab")) == b"ab"


@pytest.mark.parametrize(
    "second",
    [
        Fragment(9, 20, b"gap"),
        Fragment(5, 21, b"other total"),
        Fragment(5, 20, b"x" * 99),
        Fragment(0, MESSAGE_BYTES_MAX + 1, b"huge"),
    ],
)
def test_pieces_that_do_not_fit_together_are_refused(second: Fragment) -> None:
    assembler = Assembler()
    assembler.add(1, Fragment(0, 20, b"12345"))
    with pytest.raises(BadMessage):
        assembler.add(1, second)


def test_pieces_of_those_who_left_are_forgotten() -> None:
    assembler = Assembler()
    assembler.add(1, Fragment(0, 4, b"ab"))
    assembler.keep_only({2})
    assert assembler.add(1, Fragment(2, 4, b"cd")) is None
