"""Looking back: what happened when, how it was then, and bringing it back."""

from __future__ import annotations

import pytest

from liveobj.documents import Document, DocumentError, ReadOnly, TextChange, Version


def test_an_earlier_version_can_be_seen_and_not_changed() -> None:
    document = Document(1)
    text = document.text("text")
    text.insert(0, "first")
    then = document.version
    text.insert(5, " second")
    document.map("m").set("a", 1)
    past = document.at(then)
    assert str(past.text("text")) == "first"
    assert past.map("m").to_dict() == {}
    assert past.version == then
    with pytest.raises(ReadOnly):
        past.text("text").insert(0, "x")
    assert str(text) == "first second"


def test_an_earlier_version_can_be_brought_back_and_that_undone() -> None:
    document = Document(1)
    text = document.text("text")
    text.insert(0, "good")
    then = document.version
    text.replace(0, 4, "spoilt")
    changes: list[TextChange] = []
    text.observe(changes.append)
    document.bring_back(then)
    assert str(text) == "good"
    assert changes[0].label == "bring back"
    document.undo()
    assert str(text) == "spoilt"


def test_a_version_from_elsewhere_is_refused() -> None:
    document = Document(1)
    for action in (document.at, document.bring_back):
        with pytest.raises(DocumentError, match="never been at that version"):
            action(Version({9: 9}))


def test_history_tells_who_and_when_and_each_step_can_be_visited() -> None:
    clock = [1000.0]
    one, two = Document(1, now=lambda: clock[0]), Document(2, now=lambda: clock[0])
    one.text("text").insert(0, "a")
    clock[0] = 5000
    two.import_update(one.export_since(Version()))
    two.text("text").insert(1, "b")
    clock[0] = 9000
    one.import_update(two.export_since(one.version))
    one.text("text").insert(2, "c")
    entries = one.history()
    assert [(e.peer, e.length, e.seconds) for e in entries] == [
        (1, 1, 1000),
        (2, 1, 5000),
        (1, 1, 9000),
    ]
    assert [str(one.at(e.version).text("text")) for e in entries] == ["a", "ab", "abc"]


def test_an_empty_document_has_no_history() -> None:
    assert Document(1).history() == []
