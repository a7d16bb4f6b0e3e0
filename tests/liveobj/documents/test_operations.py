"""Operations are the same pieces at every replica, however they travelled and were stored."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from liveobj.documents import Document
from liveobj.documents.version import Span, Version


def edit(document: Document, rng: random.Random) -> None:
    """One edit of any kind."""
    text, items = document.text("text"), document.list("list")
    movable, tree = document.movable_list("movable"), document.tree("tree")
    match rng.randrange(12):
        case 0 | 1 | 2:
            text.insert(rng.randint(0, text.length), rng.choice(["word ", "x", "ä€", "abc\n"]))
        case 3 | 4 if text.length > 3:
            # Backwards, as with the backspace key, which replicas join into one operation.
            at = rng.randrange(2, text.length)
            for back in range(rng.randint(1, 2)):
                text.delete(at - back, 1)
        case 5 if text.length > 4:
            text.delete(rng.randint(0, text.length - 3), 2)
        case 6 if text.length > 2:
            text.mark(0, text.length - 1, "bold", True)
        case 7:
            document.map("map").set(rng.choice("abc"), rng.choice([1, 2.5, "x", None, b"\1", [1]]))
        case 8:
            items.insert(rng.randint(0, len(items)), rng.randint(0, 9))
        case 9 if len(items):
            items.delete(rng.randrange(len(items)), 1)
        case 10:
            movable.insert(0, rng.random())
            movable.set(0, "set")
        case _:
            document.counter("count").add(rng.choice([1, -2.5]))
            tree.create()


def pieces(document: Document, peer: int) -> list[bytes]:
    return list(document.operations(Span(peer, 0, document.version.end(peer))))


def through_many(source: Document) -> Document:
    """Every operation alone, the last writer first."""
    copy = Document(99)
    for peer, end in reversed(source.version.ends.items()):
        for start in range(end):
            copy.import_update(source.export_spans([Span(peer, start, start + 1)]))
    return copy


def through_one(source: Document) -> Document:
    copy = Document(98)
    copy.import_update(source.export_since(Version()))
    return copy


def through_snapshots(source: Document) -> Document:
    copy = through_one(source)
    again = Document(97)
    again.import_update(copy.export_snapshot())
    return again


@pytest.mark.parametrize("copied", [through_many, through_one, through_snapshots])
@pytest.mark.parametrize("seed", range(8))
def test_pieces_do_not_depend_on_the_way(seed: int, copied: Callable[[Document], Document]) -> None:
    rng = random.Random(seed)
    clock = [1_700_000_000.0]
    writers = [Document(peer, now=lambda: clock[0]) for peer in (1, 2, 3)]
    for _ in range(80):
        clock[0] += rng.choice([0, 1, 500])
        writer = rng.choice(writers)
        with writer.transaction():
            for _ in range(rng.randint(1, 3)):
                edit(writer, rng)
        if rng.random() < 0.3:
            other = rng.choice(writers)
            other.import_update(writer.export_since(other.version))
        if rng.random() < 0.1:
            writer.undo()
    for writer in writers:
        for other in writers:
            other.import_update(writer.export_since(other.version))
    copy = copied(writers[0])
    for peer in (1, 2, 3):
        assert pieces(copy, peer) == pieces(writers[0], peer) == pieces(writers[2], peer)


def test_each_letter_is_a_piece_in_canonical_form() -> None:
    document = Document(1)
    words = 'a"\\\n\t\x00\u2028é😀/ '
    document.text("text").insert(0, words)
    expected = [
        json.dumps([at, "cid:root-text:Text", "insert", at, letter], separators=(",", ":")).encode()
        for at, letter in enumerate(words)
    ]
    assert [piece for piece in pieces(document, 1) if b"insert" in piece] == expected


def test_pieces_of_parts_are_the_pieces_of_the_whole() -> None:
    rng = random.Random(1)
    document = Document(1)
    for _ in range(40):
        edit(document, rng)
    end = document.version.end(1)
    whole = pieces(document, 1)
    for cut in range(end + 1):
        first = list(document.operations(Span(1, 0, cut)))
        assert first + list(document.operations(Span(1, cut, end))) == whole
    assert list(document.operations(Span(7, 0, 0))) == []


def test_any_difference_shows() -> None:
    one, two = Document(1), Document(1)
    one.text("text").insert(0, "pay 10")
    two.text("text").insert(0, "pay 90")
    assert pieces(one, 1) != pieces(two, 1)
    # The same position means something else after another's edit.
    three, four, other = Document(1), Document(1), Document(2)
    other.text("text").insert(0, "not ")
    four.import_update(other.export_since(Version()))
    three.text("text").insert(0, "x")
    four.text("text").insert(0, "x")
    assert pieces(three, 1) != pieces(four, 1)
