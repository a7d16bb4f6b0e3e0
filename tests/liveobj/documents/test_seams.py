"""Long texts: no writer has a long run of operations, and nobody sees how that is done."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import loro
import pytest

from liveobj.documents import Document, Origin, PositionError, ReadOnly, TextChange, Version
from liveobj.documents.seams import RUN_CHARACTERS_MAX, halvings
from liveobj.documents.text import apply_steps, utf16_length

_LONG = 8 * RUN_CHARACTERS_MAX
_LETTERS = "abc déf 漢字 😀\n"


def longest_run(document: Document) -> int:
    spans = document.version.missing_from(Version())
    return max((len(run) for span in spans for run in document.runs(span)), default=0)


def longest_stretch(document: Document) -> int:
    """Of a document of one writer: the longest run that has nothing between its characters, also
    nothing that was deleted."""
    copy = loro.LoroDoc()
    copy.import_(document.export_snapshot())
    ((peer, end),) = document.version.ends.items()
    changes = json.loads(copy.export_json_in_id_span(loro.IdSpan(peer, loro.CounterSpan(0, end))))
    order: list[tuple[int, bool]] = []  # which operation inserted it, and whether it is there
    for operation in (operation for change in changes for operation in change["ops"]):
        content = operation["content"]
        there = [index for index, (_, here) in enumerate(order) if here]
        if content["type"] == "insert":
            at = there[content["pos"] - 1] + 1 if content["pos"] else 0
            first = operation["counter"]
            order[at:at] = [(first + index, True) for index in range(len(content["text"]))]
        else:
            assert content["len"] > 0, "these tests delete forwards"
            for index in there[content["pos"] : content["pos"] + content["len"]]:
                order[index] = (order[index][0], False)
    longest = length = 0
    for (before, _), (after, _) in pairwise([(-5, True), *order]):
        length = length + 1 if after == before + 1 else 1
        longest = max(longest, length)
    return longest


def _words(rng: random.Random, count: int) -> str:
    return "".join(rng.choices(_LETTERS, k=count))


def _insert_units(text: str, position: int, words: str) -> str:
    units = text.encode("utf-16-le")
    return (units[: 2 * position] + words.encode("utf-16-le") + units[2 * position :]).decode(
        "utf-16-le"
    )


def _places(text: str) -> list[int]:
    """Between characters, in UTF-16 units."""
    places = [0]
    for letter in text:
        places.append(places[-1] + utf16_length(letter))
    return places


def test_a_pasted_text_is_in_runs_that_are_short() -> None:
    document = Document(1)
    document.text("text").insert(0, "x" * _LONG)
    assert longest_run(document) == RUN_CHARACTERS_MAX
    assert document.text("text").to_string() == "x" * _LONG


def test_typing_on_and_on_makes_no_long_run() -> None:
    document = Document(1)
    text = document.text("text")
    for place in range(5 * RUN_CHARACTERS_MAX):
        text.insert(place, "x")
    assert longest_run(document) == RUN_CHARACTERS_MAX
    assert text.length == 5 * RUN_CHARACTERS_MAX


def test_typing_on_beside_the_edits_of_others_makes_no_long_run() -> None:
    here, there = Document(1), Document(2)
    for number in range(3 * RUN_CHARACTERS_MAX):
        here.text("text").insert(here.text("text").length, "x")
        if number % 300 == 0:
            there.import_update(here.export_since(there.version))
            there.text("text").insert(0, "before")
            here.import_update(there.export_since(here.version))
    assert longest_run(here) <= RUN_CHARACTERS_MAX


@pytest.mark.parametrize("seed", range(8))
def test_cut_insertions_are_the_same_as_in_a_plain_string(seed: int) -> None:
    rng = random.Random(seed)
    document = Document(1)
    text = document.text("text")
    view = plain = ""

    def follow(change: TextChange) -> None:
        nonlocal view
        view = apply_steps(view, change.steps)

    text.observe(follow)
    for _ in range(12):
        place = rng.choice(_places(plain))
        words = _words(rng, rng.choice([1, 40, 999, 1000, 1001, 2500, 7000]))
        text.insert(place, words)
        plain = _insert_units(plain, place, words)
        if len(plain) > 5000:
            places = _places(plain)
            low = rng.randrange(len(places) - 3000)
            start, end = places[low], places[low + rng.randrange(3000)]
            text.delete(start, end - start)
            units = plain.encode("utf-16-le")
            plain = (units[: 2 * start] + units[2 * end :]).decode("utf-16-le")
        assert text.to_string() == plain == view
        assert text.length == utf16_length(plain)
    assert longest_run(document) <= RUN_CHARACTERS_MAX


@pytest.mark.parametrize("seed", range(6))
def test_long_insertions_beside_edits_of_others_merge_alike_everywhere(seed: int) -> None:
    rng = random.Random(seed)
    people = [Document(number) for number in (1, 2, 3)]
    views = ["", "", ""]

    def follow(number: int, change: TextChange) -> None:
        views[number] = apply_steps(views[number], change.steps)

    for number, person in enumerate(people):
        person.text("text").observe(lambda change, n=number: follow(n, change))
    for _ in range(6):
        for person in people:
            text = person.text("text")
            place = rng.choice(_places(text.to_string()))
            text.insert(place, _words(rng, rng.choice([1, 1500, 4000])))
            if rng.random() < 0.4:
                person.undo()
            if rng.random() < 0.3:
                person.redo()
        writer, reader = rng.sample(people, 2)
        reader.import_update(writer.export_since(reader.version))
    for reader in people * 2:
        for writer in people:
            reader.import_update(writer.export_since(reader.version))
    texts = [person.text("text").to_string() for person in people]
    assert texts[0] == texts[1] == texts[2]
    assert views == texts


def test_a_long_insertion_is_one_change_and_one_step_of_undo() -> None:
    document = Document(1)
    text = document.text("text")
    text.insert(0, "beginend")
    changes: list[TextChange] = []
    text.observe(changes.append)
    words = "long 😀 text " * 1000
    text.insert(5, words)
    assert [(c.origin, c.steps[1].insert == words, len(c.steps)) for c in changes] == [
        (Origin.LOCAL, True, 2)
    ]
    document.undo()
    assert text.to_string() == "beginend"
    document.redo()
    assert text.to_string() == "begin" + words + "end"
    assert len(changes) == 3


def test_what_undo_and_redo_bring_back_has_seams_too() -> None:
    document = Document(1)
    text = document.text("text")
    text.insert(0, "x" * _LONG)
    text.delete(0, _LONG)
    document.undo()
    assert text.length == _LONG
    document.undo()
    document.redo()
    assert text.to_string() == "x" * _LONG
    assert longest_stretch(document) <= RUN_CHARACTERS_MAX
    assert document.can_redo, "the seams are no edit of this person"


def test_an_older_state_that_is_brought_back_has_seams_too() -> None:
    document = Document(1)
    text = document.text("text")
    text.insert(0, "x" * _LONG)
    full = document.version
    text.delete(0, _LONG)
    document.bring_back(full)
    assert text.to_string() == "x" * _LONG
    assert longest_stretch(document) <= RUN_CHARACTERS_MAX
    document.undo()
    assert text.to_string() == ""


def test_a_long_insertion_takes_over_the_marks_that_a_short_one_would() -> None:
    for place in range(1, 9):
        texts = []
        for words in ("y" * 10, "y" * 10_000):
            document = Document(1)
            text = document.text("text")
            text.insert(0, "abcdefghij")
            text.mark(2, 5, "bold", True)
            text.mark(4, 7, "link", "x")
            text.insert(place, words)
            texts.append(text.pieces())
        short, long = ([(piece.replace("y", ""), marks) for piece, marks in t] for t in texts)
        assert short == long, place


def test_half_a_character_is_refused_and_nothing_is_inserted() -> None:
    text = Document(1).text("text")
    with pytest.raises(PositionError):
        text.insert(0, "x" * 5000 + "\ud83d")
    assert text.to_string() == ""


def test_halvings_leave_no_part_too_long() -> None:
    for length in (0, 1, 1000, 1001, 4096, 12_345):
        cuts = sorted(halvings(7, 7 + length))
        ends = [7, *cuts, 7 + length]
        assert all(after - before <= RUN_CHARACTERS_MAX for before, after in pairwise(ends))
        assert len(cuts) <= 2 * length / RUN_CHARACTERS_MAX + 1


# A step at a time


def test_a_long_insertion_goes_in_by_steps_while_others_edit() -> None:
    here, there = Document(1), Document(2)
    text, other = here.text("text"), there.text("text")
    text.insert(0, "begin end")
    there.import_update(here.export_since(there.version))
    words = "".join(f"{number} 😀 " for number in range(8000))
    insertion = text.insert_long(6, words)
    assert insertion.size == utf16_length(words)
    steps = 1
    while insertion.step():
        steps += 1
        there.import_update(here.export_since(there.version))
        other.insert(0, "<")
        other.insert(other.length, ">")
        if steps == 3:
            other.delete(insertion.position + 1, 1)  # what comes after the place, one further there
        here.import_update(there.export_since(here.version))
    assert insertion.finished
    assert insertion.done == insertion.size
    assert steps == -(-len(words) // 16_000)
    inside = text.to_string().strip("<>")
    assert inside.removeprefix("begin ").removesuffix("end").removesuffix("nd") == words
    assert longest_run(here) <= RUN_CHARACTERS_MAX


def test_a_long_insertion_goes_on_where_the_character_before_it_was() -> None:
    text = Document(1).text("text")
    text.insert(0, "ab")
    insertion = text.insert_long(1, "x" * 20_000)
    insertion.step()
    text.delete(insertion.position - 1, 1)
    text.insert(0, "😀")
    insertion.step()
    assert text.to_string() == "😀a" + "x" * 19_999 + "b"


def test_a_long_insertion_by_steps_is_one_step_of_undo_whatever_others_do() -> None:
    here, there = Document(1), Document(2)
    text, other = here.text("text"), there.text("text")
    text.insert(0, "before ")
    insertion = text.insert_long(7, "x" * 100_000)
    while insertion.step():
        there.import_update(here.export_since(there.version))
        other.insert(0, "<")
        here.import_update(there.export_since(here.version))
    text.insert(text.length, " after")
    assert here.undo()
    assert text.to_string() == "<<<<<<before " + "x" * 100_000
    assert here.undo()
    assert text.to_string() == "<<<<<<before "
    assert here.undo()
    assert text.to_string() == "<<<<<<"
    assert not here.undo()
    assert here.redo()
    assert here.redo()
    assert text.to_string() == "<<<<<<before " + "x" * 100_000
    assert here.undo()
    assert text.to_string() == "<<<<<<before "
    assert here.redo()
    assert here.redo()
    assert not here.redo()
    assert text.to_string() == "<<<<<<before " + "x" * 100_000 + " after"


def test_undo_in_the_middle_ends_a_long_insertion_and_takes_it_back() -> None:
    document = Document(1, undo_merge_ms=1000)
    text = document.text("text")
    text.insert(0, "typed")
    insertion = text.insert_long(5, "x" * 100_000)
    insertion.step()
    insertion.step()
    document.undo()
    assert text.to_string() == "typed"
    assert insertion.finished
    assert not insertion.step()
    assert text.to_string() == "typed"


def test_a_long_insertion_that_is_cancelled_keeps_what_is_in() -> None:
    document = Document(1)
    text = document.text("text")
    insertion = text.insert_long(0, "x" * 100_000)
    insertion.step()
    insertion.cancel()
    insertion.cancel()
    assert text.length == insertion.done == 16_000
    document.undo()
    assert text.length == 0


def test_a_long_insertion_of_nothing_is_finished_by_its_first_step() -> None:
    insertion = Document(1).text("text").insert_long(0, "")
    assert not insertion.step()
    assert insertion.finished


def test_a_long_insertion_is_refused_where_an_insertion_would_be() -> None:
    text = Document(1).text("text")
    with pytest.raises(PositionError):
        text.insert_long(1, "x")
    with pytest.raises(PositionError):
        text.insert_long(0, "\ud83d")
    with pytest.raises(ReadOnly):
        Document(1, editable=False).text("text").insert_long(0, "x").step()


# Why: what one long run costs a merge


def test_an_edit_beside_a_long_insertion_touches_few_fragments() -> None:
    """The update that carries a long text has no run longer than the bound, whoever exports it."""
    here, there = Document(1), Document(2)
    here.text("text").insert(0, "hello world")
    there.import_update(here.export_since(Version()))
    here.text("text").insert(5, "x" * _LONG)
    there.text("text").insert(11, "xyz")
    there.import_update(here.export_since(there.version))
    here.import_update(there.export_since(here.version))
    again = loro.LoroDoc()
    again.import_(there.export_snapshot())
    assert again.get_text("text").to_string() == here.text("text").to_string()
    assert longest_run(there) <= RUN_CHARACTERS_MAX
