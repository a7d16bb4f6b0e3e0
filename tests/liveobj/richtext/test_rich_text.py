"""A replicated formatted text: equal to a plain one edit for edit, and the same for everybody."""

from __future__ import annotations

import random
from typing import Any

import pytest

from liveobj.documents import Document
from liveobj.documents.text import utf16_length
from liveobj.richtext.model import COLOURS, Block, Run
from liveobj.richtext.rich_text import Line, RichText
from tests.liveobj.richtext.oracle import Oracle

STYLES = ["", "h1", "h3", "quote", "code", "bullet", "number", "check"]


def make(peer: int = 1) -> RichText:
    document = Document(peer)
    return RichText(document, document.text("text"), document.map("first"))


def shown(rich: RichText) -> list[tuple[Block, tuple[Run, ...]]]:
    return [(line.block, line.runs) for line in rich.lines()]


def exchange(*texts: RichText) -> None:
    for one in texts:
        for other in texts:
            one.document.import_update(other.document.export_since(one.document.version))


def some_marks(dice: random.Random) -> dict[str, Any]:
    marks: dict[str, Any] = {name: True for name in ("bold", "italic") if dice.random() < 0.3}
    if dice.random() < 0.2:
        marks["link"] = dice.choice(["https://example.org/a", "mailto:ada@example.org"])
    if dice.random() < 0.2:
        marks["highlight"] = dice.choice(COLOURS)
    return marks


def edit(dice: random.Random, rich: RichText, oracle: Oracle | None = None) -> None:
    """One random edit, done to the replicated text and to the plain one. The alphabet has one unit
    a character, so both count the same."""
    length = rich.text.length
    start = dice.randint(0, length)
    end = dice.randint(start, min(length, start + 12))
    match dice.randrange(6):
        case 0 | 1:
            text = "".join(dice.choices("abcé漢 \n", k=dice.randint(1, 6)))
            marks = some_marks(dice)
            rich.replace(start, 0, [Run(text, marks)])
            if oracle:
                oracle.insert(start, text, marks)
        case 2:
            rich.replace(start, end - start, [])
            if oracle:
                oracle.delete(start, end - start)
        case 3:
            name, value = dice.choice(
                [("bold", True), ("bold", None), ("link", None), ("highlight", "blue")]
            )
            rich.set_mark(start, end, name, value)
            if oracle:
                oracle.mark(start, end, name, value)
        case 4:
            changes = dice.choice(
                [
                    {"style": dice.choice(STYLES)},
                    {"indent": dice.randint(0, 3)},
                    {"align": dice.choice(["", "center"])},
                    {"style": "check", "done": True},
                ]
            )
            rich.set_blocks(start, end, **changes)
            if oracle:
                oracle.set_blocks(start, end, **changes)
        case 5:
            rich.split(start)
            if oracle:
                oracle.split(start)


@pytest.mark.parametrize("seed", range(30))
def test_every_edit_does_what_it_does_to_a_plain_text(seed: int) -> None:
    dice = random.Random(seed)
    rich, oracle = make(), Oracle()
    for _ in range(80):
        edit(dice, rich, oracle)
        assert shown(rich) == oracle.lines()


@pytest.mark.parametrize("seed", range(30))
def test_edits_made_apart_end_in_the_same_text_for_everybody(seed: int) -> None:
    dice = random.Random(1000 + seed)
    texts = [make(peer) for peer in (1, 2, 3)]
    for _ in range(60):
        edit(dice, dice.choice(texts))
        if dice.random() < 0.1:
            one, other = dice.sample(texts, 2)
            one.document.import_update(other.document.export_since(one.document.version))
        if dice.random() < 0.05:
            dice.choice(texts).document.undo()
    exchange(*texts)
    assert shown(texts[0]) == shown(texts[1]) == shown(texts[2])
    for line in texts[0].lines():
        for run in line.runs:
            assert run.text
            assert "\n" not in run.text


def test_formatting_and_writing_at_the_same_time_keep_both() -> None:
    one, two = make(1), make(2)
    one.replace(0, 0, [Run("first\nsecond\nthird")])
    exchange(one, two)
    one.set_blocks(6, 6, style="h2")
    one.set_mark(0, 5, "bold", True)
    two.set_blocks(6, 6, align="center")
    two.replace(8, 0, [Run("XX")])
    two.replace(5, 0, [Run(" line")])
    exchange(one, two)
    assert shown(one) == shown(two)
    lines = shown(one)
    assert lines[1][0] == Block("h2", align="center")
    assert lines[1][1] == (Run("seXXcond"),)
    assert lines[0][1][0].text.startswith("first")
    assert lines[0][1][0].marks == {"bold": True}


def test_text_written_at_the_end_of_a_link_is_not_part_of_it() -> None:
    rich = make()
    rich.replace(0, 0, [Run("here", {"link": "https://example.org"})])
    rich.text.insert(4, " there")
    assert shown(rich)[0][1] == (Run("here", {"link": "https://example.org"}), Run(" there"))


def test_positions_count_as_qt_counts_with_characters_of_two_units() -> None:
    rich = make()
    rich.replace(0, 0, [Run("😀a\n😀b\n")])
    rich.set_blocks(5, 5, style="h1")
    rich.set_mark(4, 7, "bold", True)
    assert rich.lines() == [
        Line(0, Block(), (Run("😀a"),)),
        Line(4, Block("h1"), (Run("😀b", {"bold": True}),)),
        Line(8, Block(), ()),
    ]
    assert list(rich.line_starts(1, 5)) == [0, 4]
    assert rich.line_end(0) == utf16_length("😀a")


def test_what_nobody_here_knows_is_passed_over_and_stays() -> None:
    rich = make()
    rich.replace(0, 0, [Run("a\nb")])
    rich.text.mark(0, 1, "sparkle", True)
    rich.text.mark(0, 1, "bold", "yes")
    rich.text.mark(0, 1, "link", "javascript:alert(1)")
    rich.text.mark(1, 2, "block:style", "giant")
    rich.text.mark(1, 2, "block:indent", 10**9)
    rich.first.set("style", ["h1"])
    rich.first.set("indent", True)
    assert shown(rich) == [(Block(), (Run("a"),)), (Block(indent=8), (Run("b"),))]
    rich.replace(0, 0, [Run("x", {"italic": True})])
    assert rich.text.pieces()[1][1]["sparkle"] is True


def test_undo_takes_back_formatting_of_ones_own() -> None:
    one, two = make(1), make(2)
    one.replace(0, 0, [Run("words")])
    one.document.undo_boundary()
    one.set_blocks(0, 0, style="h1")
    exchange(one, two)
    two.set_mark(0, 5, "bold", True)
    exchange(one, two)
    one.document.undo()
    assert shown(one) == [(Block(), (Run("words", {"bold": True}),))]
