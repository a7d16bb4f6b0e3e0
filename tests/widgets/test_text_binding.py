"""A QTextDocument and a replicated text stay the same, whatever is done to either of them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtGui import QTextCursor, QTextDocument

from liveobj.documents.document import Document
from liveobj.documents.text import Text, TextStep, utf16_length
from widgets.backlog import moved
from widgets.text_binding import TextBinding


class Replica:
    """A document with a bound view, and the means to give its edits to another replica."""

    def __init__(self, peer_id: int, start: str = "") -> None:
        self.document = Document(peer_id)
        self.text: Text = self.document.text("text")
        self.text.insert(0, start)
        self.view = QTextDocument()
        self.binding = TextBinding(self.view, self.text)

    def shown(self) -> str:
        cursor = QTextCursor(self.view)
        cursor.select(QTextCursor.SelectionType.Document)
        return cursor.selectedText().replace("\u2029", "\n")

    def edit(self, position: int, removed: int, added: str) -> None:
        """What a key press does to the view."""
        cursor = QTextCursor(self.view)
        cursor.setPosition(position)
        cursor.setPosition(position + removed, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(added)

    def receive_from(self, other: Replica) -> None:
        self.document.import_update(other.document.export_since(self.document.version))


def pair(start: str = "") -> tuple[Replica, Replica]:
    one, two = Replica(1, start), Replica(2)
    two.receive_from(one)
    two.binding.apply_pending()
    return one, two


def test_the_view_begins_with_the_text(qapp: Any) -> None:
    assert Replica(1, "one\ntwo 😀").shown() == "one\ntwo 😀"


@pytest.mark.parametrize(
    ("position", "removed", "added", "result"),
    [
        (0, 0, "x", "xabc\ndef"),
        (7, 0, "!", "abc\ndef!"),
        (3, 1, "", "abcdef"),
        (1, 1, "\n\n", "a\n\nc\ndef"),
        (0, 7, "", ""),
        (0, 7, "all 漢字 new 😀", "all 漢字 new 😀"),
    ],
)
def test_a_local_edit_reaches_the_text(
    qapp: Any, position: int, removed: int, added: str, result: str
) -> None:
    replica = Replica(1, "abc\ndef")
    replica.edit(position, removed, added)
    assert replica.shown() == result
    assert replica.text.to_string() == result


def test_typing_the_same_letter_twice_is_one_small_edit(qapp: Any) -> None:
    replica = Replica(1, "aaaa")
    changes: list[Any] = []
    replica.text.observe(changes.append)
    replica.edit(2, 1, "ab")
    assert sum(len(step.insert) + step.delete for step in changes[0].steps) == 1


def test_replacing_one_emoji_by_its_neighbour_keeps_whole_characters(qapp: Any) -> None:
    replica = Replica(1, "😀😀")  # these two share their first half
    replica.edit(0, 2, "😁")
    assert replica.text.to_string() == replica.shown() == "😁😀"


def test_half_a_character_cannot_be_taken_away(qapp: Any) -> None:
    replica = Replica(1, "😀")
    replica.edit(0, 1, "")
    assert replica.text.to_string() == replica.shown() == "😀"


def test_a_remote_edit_waits_and_then_comes_in_one_block(qapp: Any) -> None:
    one, two = pair("hello world")
    blocks: list[tuple[int, int, int]] = []
    two.view.contentsChange.connect(lambda *change: blocks.append(change))
    one.edit(0, 0, "A ")
    one.edit(one.text.length, 0, " Z")
    two.receive_from(one)
    assert two.shown() == "hello world"
    two.binding.apply_pending()
    assert two.shown() == "A hello world Z"
    assert len(blocks) == 1


def test_pending_is_told_once_there_is_something(qapp: Any) -> None:
    one, two = pair("x")
    told: list[bool] = []
    two.binding.pending.connect(lambda: told.append(two.binding.is_pending))
    one.edit(1, 0, "y")
    two.receive_from(one)
    assert told == [True]
    assert len(two.binding.apply_pending()) == 1
    assert not two.binding.is_pending


def test_a_local_edit_while_remote_ones_wait_lands_where_it_was_meant(qapp: Any) -> None:
    one, two = pair("hello world")
    one.edit(0, 0, "Oh, ")
    two.receive_from(one)
    two.edit(5, 1, " wide ")  # in the old view: between the two words
    assert two.text.to_string() == "Oh, hello wide world"
    two.binding.apply_pending()
    assert two.shown() == "Oh, hello wide world"


def test_characters_that_qt_treats_in_its_own_way_keep_every_position(qapp: Any) -> None:
    one, two = Replica(1), Replica(2)
    one.text.insert(0, "a\r\nb\u2029c\u2028d\ufdd0e\u00a0f")
    two.receive_from(one)
    two.binding.apply_pending()
    assert len(two.shown()) == two.text.length
    two.edit(two.text.length, 0, "!")
    assert two.text.to_string() == "a\r\nb\u2029c\u2028d\ufdd0e\u00a0f!"


def test_nothing_happens_after_close(qapp: Any) -> None:
    one, two = pair("x")
    two.binding.close()
    two.edit(0, 0, "unseen ")
    one.edit(1, 0, "y")
    two.receive_from(one)
    assert two.text.to_string() == "xy"
    assert two.shown() == "unseen x"


@pytest.mark.parametrize("seed", range(20))
def test_two_views_converge_under_random_edits(
    qapp: Any, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.text_binding._STEPS_FEW", 0)
    monkeypatch.setattr("widgets.backlog._STEPS_PER_STRETCH", 3)
    dice = random.Random(seed)
    monkeypatch.setattr("widgets.text_binding.FIRST_UNITS", dice.choice([5, 1000]))
    replicas = pair("the quick brown 😀 fox\njumps")
    alphabet = ["a", "b", "\n", "é", "漢", "😀", "word ", "\n\n"]
    for _ in range(60):
        actor, other = dice.sample(replicas, 2)
        match dice.randrange(6):
            case 0 | 1:
                length = actor.view.characterCount() - 1
                position = dice.randint(0, length)
                removed = dice.randint(0, min(3, length - position))
                actor.edit(position, removed, dice.choice(alphabet))
            case 2:
                actor.receive_from(other)
            case 3:
                actor.binding.apply_pending()
            case 4:
                left = iter(range(dice.randrange(4)))
                actor.binding.apply_some(lambda left=left: next(left, None) is not None)
            case 5:
                place = dice.randint(0, actor.view.characterCount())
                actor.binding.apply_between(place, place + 3)
    for actor, other in (replicas, replicas[::-1]):
        actor.receive_from(other)
    for replica in replicas:
        replica.binding.apply_pending()
    texts = {replica.text.to_string() for replica in replicas}
    assert texts == {replica.shown() for replica in replicas}
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("position", "steps", "stay", "result"),
    [
        (3, [TextStep(insert="ab")], True, 5),
        (0, [TextStep(insert="ab")], True, 0),
        (0, [TextStep(insert="ab")], False, 2),
        (5, [TextStep(retain=5), TextStep(insert="ab")], True, 5),
        (5, [TextStep(retain=5), TextStep(insert="ab")], False, 7),
        (5, [TextStep(retain=2), TextStep(delete=2)], True, 3),
        (3, [TextStep(retain=2), TextStep(delete=4)], True, 2),
        (3, [TextStep(retain=2), TextStep(delete=4), TextStep(insert="x")], True, 2),
        (9, [TextStep(retain=2), TextStep(delete=4), TextStep(insert="😀")], True, 7),
        (1, [TextStep(retain=4), TextStep(insert="x")], True, 1),
    ],
)
def test_positions_move_with_the_text(
    position: int, steps: list[TextStep], stay: bool, result: int
) -> None:
    assert moved(position, steps, stay=stay) == result


def test_utf16_length_is_that_of_qt(qapp: Any) -> None:
    document = QTextDocument()
    document.setPlainText("a😀漢")
    assert utf16_length("a😀漢") == document.characterCount() - 1


def test_what_is_seen_comes_first_and_the_rest_in_turns(qapp: Any) -> None:
    one, two = pair("\n".join(f"paragraph {number}" for number in range(300)))
    for number in reversed(range(300)):
        one.text.insert(
            one.text.to_string().index(f"paragraph {number}\n") if number < 299 else 0, "x"
        )
    two.receive_from(one)
    seen = two.shown().index("paragraph 200")
    left = iter(range(10))
    two.binding.apply_some(lambda: next(left, None) is not None, [(seen, seen + 60)])
    assert two.shown().count("x") == 9
    assert "xparagraph 200\nxparagraph 201" in two.shown()
    assert two.text.to_string() == one.text.to_string()
    turns = 0
    while two.binding.is_pending:
        left = iter(range(50))
        two.binding.apply_some(lambda left=left: next(left, None) is not None)
        turns += 1
    assert two.shown() == one.text.to_string()
    assert turns > 4


def test_a_long_text_that_arrives_at_once_is_shown_in_turns(qapp: Any) -> None:
    one, two = pair("start\n")
    one.text.insert(6, "\n".join(f"line {number} 😀" for number in range(500)))
    two.receive_from(one)
    left = iter(range(3))
    two.binding.apply_some(lambda: next(left, None) is not None)
    assert 80 < two.view.blockCount() < 200
    two.edit(0, 5, "begin")
    two.binding.apply_pending()
    assert two.shown() == two.text.to_string()
    assert two.shown().startswith("begin\nline 0 😀\nline 1")


def test_a_long_text_begins_with_its_first_screens_and_can_be_written_in_meanwhile(
    qapp: Any,
) -> None:
    words = "".join(f"line {number} 😀\n" for number in range(5000))
    replica, other = Replica(1, words), Replica(2)
    other.receive_from(replica)
    assert replica.binding.filling
    assert replica.shown() == words[: len(replica.shown())]
    assert len(replica.shown()) < len(words) // 2
    replica.edit(2, 0, "!")
    other.text.insert(0, "above\n")
    other.text.insert(other.text.length, "below\n")
    replica.receive_from(other)
    turns = 0
    while replica.binding.is_pending:
        left = iter([True] * 20)
        replica.binding.apply_some(lambda left=left: next(left, False))
        turns += 1
    assert turns > 3
    assert not replica.binding.filling
    assert replica.shown() == replica.text.to_string() == f"above\nli!{words[2:]}below\n"


@pytest.mark.parametrize("words", ["x" * 50_000, "", "\n" * 30_000])
def test_a_text_without_a_line_end_to_cut_at_is_shown(words: str, qapp: Any) -> None:
    replica = Replica(1, words)
    replica.binding.apply_pending()
    assert replica.shown() == words
    assert not replica.binding.is_pending
