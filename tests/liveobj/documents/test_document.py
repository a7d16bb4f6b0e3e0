"""A replicated document: transactions, origins, versions, undo of one's own edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.documents import (
    BadUpdate,
    Change,
    Document,
    DocumentError,
    Origin,
    ReadOnly,
    Version,
)


def typed(peer: int, text: str) -> Document:
    document = Document(peer)
    document.text("text").insert(0, text)
    return document


def test_a_transaction_is_one_change_with_its_label() -> None:
    document = Document(1)
    text = document.text("text")
    changes: list[Change] = []
    document.observe(changes.append)
    with document.transaction("typing"):
        text.insert(0, "a")
        with document.transaction("inner"):
            text.insert(1, "b")
    assert changes == [Change(Origin.LOCAL, "typing", frozenset({"text"}))]


def test_a_label_cannot_pass_for_undo() -> None:
    document = Document(1)
    changes: list[Change] = []
    document.observe(changes.append)
    with document.transaction("undo"):
        document.text("text").insert(0, "a")
    assert changes[0].origin is Origin.LOCAL


def test_an_empty_transaction_tells_nobody() -> None:
    document = Document(1)
    changes: list[Change] = []
    document.observe(changes.append)
    with document.transaction():
        pass
    assert changes == []


def test_an_observer_may_edit_and_is_told_in_order() -> None:
    document = Document(1)
    text = document.text("text")
    seen: list[str] = []

    def answer(change: Change) -> None:
        seen.append(change.label)
        if change.label == "first":
            with document.transaction("second"):
                text.insert(0, "b")

    document.observe(answer)
    with document.transaction("first"):
        text.insert(0, "a")
    assert seen == ["first", "second"]
    assert text.to_string() == "ba"


def test_a_failing_observer_does_not_reach_the_editor_nor_the_next_observer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    document = Document(1)
    seen: list[Change] = []

    def fail(_change: Change) -> None:
        raise ValueError("observer")

    document.observe(fail)
    document.observe(seen.append)
    document.text("text").insert(0, "a")
    assert len(seen) == 1
    assert "an observer failed" in caplog.text


def test_a_closed_subscription_is_silent_and_may_be_closed_again() -> None:
    document = Document(1)
    seen: list[Change] = []
    subscription = document.observe(seen.append)
    subscription.close()
    subscription.close()
    document.text("text").insert(0, "a")
    assert seen == []


def test_an_exception_inside_a_transaction_keeps_what_was_done() -> None:
    document = Document(1)

    def edit_and_fail() -> None:
        with document.transaction():
            document.text("text").insert(0, "a")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        edit_and_fail()
    assert document.text("text").to_string() == "a"
    assert document.version.end(1) == 1


def test_edits_made_apart_merge_to_the_same_text() -> None:
    left, right = typed(1, "left"), typed(2, "right")
    left.import_update(right.export_since(Version()))
    right.import_update(left.export_since(Version()))
    assert left.text("text").to_string() == right.text("text").to_string()
    assert left.version == right.version


def test_an_update_twice_or_too_early_is_harmless() -> None:
    writer = typed(1, "one ")
    first = writer.export_since(Version())
    middle = writer.version
    writer.text("text").insert(4, "two")
    second = writer.export_since(middle)
    reader = Document(2)
    early = reader.import_update(second)
    assert early.waiting
    assert not early.changed
    assert reader.import_update(first).changed
    assert not reader.import_update(first).changed
    assert reader.text("text").to_string() == "one two"


@given(st.binary(max_size=200))
def test_bytes_that_are_no_update_change_nothing(data: bytes) -> None:
    document = typed(1, "text")
    before = document.version
    with pytest.raises(BadUpdate):
        document.import_update(data)
    assert document.version == before


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_damaged_update_is_refused(place: int, byte: int) -> None:
    data = bytearray(typed(1, "some text" * 10).export_since(Version()))
    place %= len(data)
    if data[place] == byte:
        byte ^= 1
    data[place] = byte
    document = Document(2)
    try:
        document.import_update(bytes(data))
    except BadUpdate:
        return
    assert document.text("text").to_string() in ("", "some text" * 10)


def test_undo_takes_back_own_edits_only() -> None:
    mine, theirs = Document(1), Document(2)
    mine.text("text").insert(0, "mine ")
    theirs.import_update(mine.export_since(Version()))
    theirs.text("text").insert(5, "theirs")
    mine.import_update(theirs.export_since(Version()))
    assert mine.can_undo
    assert mine.undo()
    assert mine.text("text").to_string() == "theirs"
    assert not mine.undo()
    assert mine.redo()
    assert mine.text("text").to_string() == "mine theirs"


def test_a_boundary_parts_what_would_be_undone_together() -> None:
    document = Document(1, undo_merge_ms=60_000)
    values = document.map("values")
    values.set("a", 1)
    values.set("a", 2)
    document.undo_boundary()
    with document.transaction("nothing"):
        pass
    values.set("a", 3)
    values.set("a", 4)
    assert document.undo()
    assert values.get("a") == 2
    assert document.undo()
    assert values.get("a") is None
    assert not document.can_undo


def test_what_is_not_undoable_is_skipped_by_undo() -> None:
    document = Document(1)
    with document.transaction("set up", undoable=False):
        document.text("text").insert(0, "template")
    assert not document.can_undo


def test_a_boundary_separates_what_would_be_undone_together() -> None:
    document = Document(1, undo_merge_ms=60_000)
    text = document.text("text")
    text.insert(0, "a")
    text.insert(1, "b")
    document.undo_boundary()
    document.undo_boundary()
    with document.transaction("quiet", undoable=False):
        document.map("map").set("x", 1)
    text.insert(2, "c")
    text.insert(3, "d")
    assert document.undo()
    assert str(text) == "ab"
    assert document.redo()
    assert str(text) == "abcd"
    assert document.undo()
    assert document.undo()
    assert str(text) == ""
    assert not document.can_undo


def test_undo_inside_a_transaction_is_refused() -> None:
    document = typed(1, "a")
    with pytest.raises(DocumentError), document.transaction():
        document.undo()


def test_a_document_that_may_only_be_viewed_takes_updates_and_refuses_edits() -> None:
    viewer = Document(2, editable=False)
    viewer.import_update(typed(1, "seen").export_since(Version()))
    with pytest.raises(ReadOnly, match="viewed"):
        viewer.text("text").insert(0, "x")
    assert viewer.text("text").to_string() == "seen"
    assert viewer.version.end(2) == 0


def test_a_snapshot_holds_all() -> None:
    document = typed(1, "text")
    other = Document(2)
    other.import_update(document.export_snapshot(), Origin.STORED)
    assert other.version == document.version
