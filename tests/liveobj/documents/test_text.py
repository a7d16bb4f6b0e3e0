"""A replicated text: positions in UTF-16 units, deltas that rebuild the text, cursors that move."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.documents import BadUpdate, Document, Origin, PositionError, TextChange, Version
from liveobj.documents.text import apply_steps, utf16_length


def test_positions_count_as_qt_counts() -> None:
    text = Document(1).text("text")
    text.insert(0, "a😀b")
    assert text.length == 4
    text.insert(3, "X")
    assert text.to_string() == "a😀Xb"
    text.delete(1, 2)
    assert text.to_string() == "aXb"


@pytest.mark.parametrize("position", [-1, 2, 100])
def test_a_place_that_is_none_is_refused(position: int) -> None:
    text = Document(1).text("text")
    text.insert(0, "a😀b")
    with pytest.raises(PositionError):
        text.insert(position, "X")
    assert text.to_string() == "a😀b"


def test_deleting_past_the_end_is_refused() -> None:
    text = Document(1).text("text")
    text.insert(0, "abc")
    with pytest.raises(PositionError, match="Cannot delete 9 from 1"):
        text.delete(1, 9)
    assert text.to_string() == "abc"


def test_a_change_tells_who_began_it() -> None:
    document, other = Document(1), Document(2)
    text = document.text("text")
    changes: list[TextChange] = []
    text.observe(changes.append)
    text.insert(0, "a")
    document.undo()
    other.text("text").insert(0, "b")
    document.import_update(other.export_since(Version()))
    assert [c.origin for c in changes] == [Origin.LOCAL, Origin.UNDO, Origin.REMOTE]


def test_marks_are_runs_and_changes() -> None:
    text = Document(1).text("text")
    text.insert(0, "bold plain")
    changes: list[TextChange] = []
    text.observe(changes.append)
    text.mark(0, 4, "bold", True)
    assert text.pieces() == [("bold", {"bold": True}), (" plain", {})]
    assert changes[0].steps[0].retain == 4
    assert changes[0].steps[0].marks == {"bold": True}
    text.mark(0, 4, "bold", None)
    assert text.pieces() == [("bold plain", {})]


def test_a_cursor_moves_with_its_text_on_every_replica() -> None:
    here, there = Document(1), Document(2)
    here.text("text").insert(0, "😀 hello world")
    place = here.text("text").cursor_at(9)
    there.import_update(here.export_since(Version()))
    there.text("text").insert(0, "😀😀")
    assert there.text("text").position_of(place) == 13
    assert here.text("text").position_of(place) == 9


def test_a_cursor_of_a_text_not_yet_here_is_refused_politely() -> None:
    here, there = Document(1), Document(2)
    here.text("text").insert(0, "abc")
    place = here.text("text").cursor_at(1)
    with pytest.raises(BadUpdate):
        there.text("text").position_of(place)
    with pytest.raises(BadUpdate):
        here.text("another").position_of(place)
    with pytest.raises(PositionError):
        here.text("text").cursor_at(50)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_cursor_are_refused(data: bytes) -> None:
    document = Document(1)
    document.text("text").insert(0, "abc")
    try:
        position = document.text("text").position_of(data)
    except BadUpdate:
        return
    assert 0 <= position <= 3


edits = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.floats(0, 1, exclude_max=True),
        st.text(alphabet="ab😀é\n", max_size=5),
        st.integers(0, 4),
    ),
    max_size=25,
)


@given(edits, st.booleans())
def test_deltas_rebuild_the_text_on_both_sides(
    script: list[tuple[int, float, str, int]], often: bool
) -> None:
    """Two replicas edit at random and exchange; a copy that follows the deltas stays equal."""
    documents = [Document(1), Document(2)]
    copies = ["", ""]

    def follow(index: int) -> None:
        def apply(change: TextChange) -> None:
            copies[index] = apply_steps(copies[index], change.steps)

        documents[index].text("text").observe(apply)

    follow(0)
    follow(1)
    for who, where, inserted, deleted in script:
        text = documents[who].text("text")
        boundaries = [utf16_length(str(text)[:i]) for i in range(len(str(text)) + 1)]
        start = boundaries[int(where * len(boundaries))]
        end = boundaries[min(boundaries.index(start) + deleted, len(boundaries) - 1)]
        text.replace(start, end - start, inserted)
        if often:
            other = documents[1 - who]
            other.import_update(documents[who].export_since(other.version))
    for document, other in (documents, documents[::-1]):
        document.import_update(other.export_since(document.version))
    assert copies == [str(d.text("text")) for d in documents]
    assert copies[0] == copies[1]
