"""A QTextDocument and a replicated formatted text stay the same, whatever is done to either."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtGui import QTextCursor, QTextDocument

from liveobj.documents import Document
from liveobj.richtext.model import Block, Run
from liveobj.richtext.rich_text import OBJECT, RichText
from tests.liveobj.richtext.test_rich_text import edit as random_edit
from tests.liveobj.richtext.test_rich_text import some_marks
from widgets.document.rich_binding import RichBinding, blocks, line_runs
from widgets.document.rich_look import RichLook, block_of, marks_of
from widgets.theme import Theme


class Replica:
    """A formatted text with a bound view."""

    def __init__(self, peer: int, theme: Theme, *start: Run) -> None:
        self.document = Document(peer)
        self.rich = RichText(self.document, self.document.text("text"), self.document.map("first"))
        self.rich.replace(0, 0, start)
        self.view = QTextDocument()
        self.look = RichLook(theme)
        self.binding = RichBinding(self.view, self.rich, self.look)

    def shown(self) -> list[tuple[Block, tuple[Run, ...]]]:
        return [(block_of(b.blockFormat()), line_runs(b)) for b in blocks(self.view)]

    def real(self) -> list[tuple[Block, tuple[Run, ...]]]:
        return [(line.block, line.runs) for line in self.rich.lines()]

    def type(self, position: int, removed: int, added: str, **marks: Any) -> None:
        """What a key press does to the view."""
        cursor = QTextCursor(self.view)
        cursor.setPosition(position)
        cursor.setPosition(position + removed, QTextCursor.MoveMode.KeepAnchor)
        block = block_of(cursor.blockFormat())
        cursor.insertText(added, self.look.characters(marks, block))

    def receive_from(self, other: Replica) -> None:
        self.document.import_update(other.document.export_since(self.document.version))

    def looks_right(self) -> bool:
        """Whether every letter has exactly the format that its marks and paragraph ask for."""
        for block in blocks(self.view):
            style = block_of(block.blockFormat())
            piece = block.begin()
            while not piece.atEnd():
                fragment = piece.fragment()
                marks = marks_of(fragment.charFormat())
                if fragment.charFormat() != self.look.characters(marks, style):
                    return False
                piece += 1
        return True


def test_what_is_typed_has_the_marks_it_is_shown_with(theme: Theme) -> None:
    replica = Replica(1, theme)
    replica.type(0, 0, "plain ")
    replica.type(6, 0, "bold", bold=True)
    replica.type(10, 0, "!", link="https://example.org")
    assert replica.real() == replica.shown()
    assert replica.real()[0][1] == (
        Run("plain "),
        Run("bold", {"bold": True}),
        Run("!", {"link": "https://example.org"}),
    )


def test_joining_paragraphs_leaves_the_look_of_the_first(theme: Theme) -> None:
    replica = Replica(1, theme, Run("title\nbody"))
    replica.rich.set_blocks(0, 0, style="h1")
    replica.binding.apply_pending()
    replica.type(5, 1, "")
    assert replica.real() == replica.shown() == [(Block("h1"), (Run("titlebody"),))]
    assert replica.looks_right()


def test_taking_a_whole_paragraph_leaves_the_next_as_it_is(theme: Theme) -> None:
    replica = Replica(1, theme, Run("title\nbody"))
    replica.rich.set_blocks(0, 0, style="h1")
    replica.binding.apply_pending()
    replica.type(0, 6, "")
    assert replica.real() == replica.shown() == [(Block(), (Run("body"),))]
    assert replica.looks_right()


def test_a_remote_look_waits_and_comes_with_the_frame(theme: Theme) -> None:
    one, two = Replica(1, theme, Run("words\nmore")), Replica(2, theme)
    two.receive_from(one)
    two.binding.apply_pending()
    told: list[bool] = []
    two.binding.pending.connect(lambda: told.append(True))
    one.rich.set_blocks(0, 9, style="bullet")
    two.receive_from(one)
    assert told
    assert two.shown()[0][0] == Block()
    two.binding.apply_pending()
    assert two.shown() == two.real() == one.real()


def test_an_embedded_thing_is_one_character(theme: Theme) -> None:
    one, two = Replica(1, theme, Run("ab")), Replica(2, theme)
    one.rich.replace(1, 0, [Run(OBJECT, {"embed": "x1"})])
    one.binding.apply_pending()
    two.receive_from(one)
    two.binding.apply_pending()
    assert two.view.characterCount() - 1 == 3
    assert two.shown() == one.shown() == one.real()


def test_a_change_of_theme_changes_no_text(theme: Theme) -> None:
    replica = Replica(1, theme, Run("a", {"bold": True}), Run("\nb"))
    before = replica.real()
    replica.look.forget()
    replica.binding.renew_look()
    assert replica.real() == replica.shown() == before


@pytest.mark.parametrize("seed", range(30))
def test_views_and_texts_stay_the_same_under_random_edits(
    theme: Theme, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.text_binding._STEPS_FEW", 0)
    monkeypatch.setattr("widgets.backlog._STEPS_PER_STRETCH", 3)
    dice = random.Random(seed)
    monkeypatch.setattr("widgets.document.rich_binding.FIRST_UNITS", dice.choice([5, 1000]))
    start = Run("the quick brown\nfox jumps\nover the lazy dog", {"bold": True})
    replicas = [Replica(1, theme, start), Replica(2, theme)]
    replicas[1].receive_from(replicas[0])
    for _ in range(70):
        actor, other = dice.sample(replicas, 2)
        match dice.randrange(8):
            case 0 | 1:
                length = actor.view.characterCount() - 1
                position = dice.randint(0, length)
                removed = dice.randint(0, min(6, length - position))
                added = dice.choice(["a", "é", "漢", "", "word ", "\n"])
                actor.type(position, removed, added, **some_marks(dice))
            case 2:
                actor.binding.apply_pending()
                random_edit(dice, actor.rich)
            case 3:
                actor.receive_from(other)
            case 4:
                actor.binding.apply_pending()
                assert actor.shown() == actor.real()
                assert actor.looks_right()
            case 5:
                if dice.random() < 0.3:
                    actor.document.undo()
            case 6:
                left = iter(range(dice.randrange(4)))
                actor.binding.apply_some(lambda left=left: next(left, None) is not None)
            case 7:
                place = dice.randint(0, actor.view.characterCount())
                actor.binding.apply_between(place, place + 5)
    for actor, other in (replicas, replicas[::-1]):
        actor.receive_from(other)
    for replica in replicas:
        replica.binding.apply_pending()
        assert replica.shown() == replica.real()
        assert replica.looks_right()
    assert replicas[0].real() == replicas[1].real()
