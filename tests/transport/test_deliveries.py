"""Deliveries of a call: made when they are looked at, and never after their time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from transport import binding_events
from transport.deliveries import LentDeliveries
from transport.interfaces import Delivery

MEMORY = {4096: b"first", 8192: b"second", 9000: b""}


class Lender:
    """Stands for the engine's memory, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def lend(
        self, addresses: Sequence[int], sizes: Sequence[int]
    ) -> tuple[list[bytes], list[memoryview]]:
        self.asked += 1
        loans = [MEMORY[address][:size] for address, size in zip(addresses, sizes, strict=True)]
        return loans, [memoryview(loan) for loan in loans]


def columns(sender: int, address: int) -> binding_events.Columns:
    size = len(MEMORY[address])
    return binding_events.columns_of((1, 0, 0, size, 0, 7, sender, 5, address, 0, 0, 0))


def test_nothing_is_made_for_those_who_only_count() -> None:
    lender = Lender()
    deliveries = LentDeliveries(lender.lend)
    deliveries.add(columns(3, 4096))
    deliveries.add(columns(4, 8192))
    assert (len(deliveries), bool(deliveries), lender.asked) == (2, True, 0)
    assert deliveries.views == []


def test_they_are_a_sequence_in_order() -> None:
    lender = Lender()
    deliveries = LentDeliveries(lender.lend)
    deliveries.add(columns(3, 4096))
    assert [(sender, bytes(data)) for sender, data in deliveries] == [(3, b"first")]
    deliveries.add(columns(4, 8192))  # more may come before they are handed out
    deliveries.add(columns(4, 9000))
    assert [bytes(each.data) for each in deliveries] == [b"first", b"second", b""]
    assert isinstance(deliveries[0], Delivery)
    assert deliveries[-1].sender == 4
    assert [each.sender for each in deliveries[:2]] == [3, 4]
    assert lender.asked == 3
    with pytest.raises(IndexError):
        deliveries[3]


@pytest.mark.parametrize("looked_at", [False, True])
def test_whoever_keeps_them_gets_an_error_and_no_freed_memory(looked_at: bool) -> None:
    lender = Lender()
    deliveries = LentDeliveries(lender.lend)
    deliveries.add(columns(3, 4096))
    if looked_at:
        assert deliveries[0].sender == 3
    deliveries.end()
    asked = lender.asked
    with pytest.raises(ValueError, match="kept after their callback"):
        list(deliveries)
    assert lender.asked == asked
