"""The rich document: what is embedded, comments, and the way back in its history."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from liveobj.documents import Document, DocumentError
from liveobj.host import Host
from liveobj.objects.rich_document import RichBody, RichDocument, new_document, open_document
from liveobj.objects.timeline import restore, stops
from liveobj.references import Reference
from liveobj.richtext.embeds import Cell
from liveobj.richtext.model import (
    IMAGE_BYTES_MAX,
    Block,
    Embedded,
    Image,
    Paragraph,
    Run,
    Table,
)
from tests.liveobj.support import LocalOffice

DOCUMENT = new_document("Report", random.Random(6).randbytes)
WORDS = Paragraph((Run("some "), Run("bold", {"bold": True}), Run(" words")), Block("h1"))
TABLE = Table((((Run("a"),), (Run("b"),)), ((Run("1", {"italic": True}),), ())))


Office = LocalOffice[RichDocument]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    def open_with_a_clock(reference: Reference, host: Host) -> RichDocument:
        return open_document(reference, replace(host, wall_time=host.scheduler.time))

    return LocalOffice(tmp_path, DOCUMENT, open_with_a_clock)


def test_content_of_every_kind_comes_back_as_it_was_put_in(office: Office) -> None:
    one, two = office.open(1), office.open(2)
    content = (WORDS, TABLE, Image(b"picture", 120, "a cat"), Embedded(b"<x/>", "Plan"), WORDS)
    one.body.insert(0, content)
    office.settle()
    assert one.body.content() == two.body.content() == content
    one.close()
    two.close()


def test_an_embedded_thing_gets_a_line_of_its_own_in_the_middle_of_words(office: Office) -> None:
    document = office.open(1)
    document.body.insert(0, [Paragraph((Run("beforeafter"),), Block("bullet"))])
    document.body.insert(6, [TABLE])
    bullet = Block("bullet")
    assert document.body.content() == (
        Paragraph((Run("before"),), bullet),
        TABLE,
        Paragraph((Run("after"),), bullet),
    )
    document.close()


def test_two_people_change_one_table_at_once(office: Office) -> None:
    one, two = office.open(1), office.open(2)
    one.body.insert(0, [TABLE])
    office.settle()
    name = one.body.rich.lines()[0].runs[0].marks["embed"]
    assert isinstance(name, str)
    mine, theirs = one.body.embeds.table(name), two.body.embeds.table(name)
    cell = Cell(mine.rows[0], mine.columns[0])
    mine.cell(cell).replace(1, 0, [Run(" mine")])
    theirs.cell(cell).replace(0, 0, [Run("theirs ")])
    mine.add_row(1, "aa")
    theirs.add_column(2, "bb")
    theirs.remove_row(theirs.rows[1])
    office.settle()
    table = one.body.embeds.read_table(name)
    assert table == two.body.embeds.read_table(name)
    assert table.rows == (((Run("theirs a mine"),), (Run("b"),), ()), ((), (), ()))
    one.close()
    two.close()


def test_rows_and_columns_are_bounded_and_rubbish_in_them_is_passed_over(office: Office) -> None:
    document = office.open(1)
    document.body.insert(0, [TABLE])
    name = str(document.body.rich.lines()[0].runs[0].marks["embed"])
    parts = document.body.embeds.table(name)
    rows = document.document.movable_list(f"rows.{name}")
    rows.insert(0, 5, ["x"], "NOT A NAME", parts.rows[0])
    assert len(parts.rows) == 2
    for number in range(64 - len(parts.columns)):
        parts.add_column(0, f"c{number}")
    with pytest.raises(DocumentError, match="at most 64 columns"):
        parts.add_column(0, "more")
    document.close()


def test_an_image_must_be_what_its_hash_says(office: Office) -> None:
    document = office.open(1)
    embeds = document.body.embeds
    name = embeds.add_image(Image(b"honest"))
    assert embeds.image(name) == Image(b"honest")
    images = document.document.map("images")
    images.set(next(iter(images)), b"forged")
    assert embeds.image(name) is None
    with pytest.raises(DocumentError, match="larger than"):
        embeds.add_image(Image(bytes(IMAGE_BYTES_MAX + 1)))
    document.document.map("embeds").set(f"{name}/width", "wide")
    assert embeds.width(name) == 0
    assert embeds.kind("nobody knows") == ""
    document.close()


def test_comments_move_with_their_text_and_are_answered_and_settled(office: Office) -> None:
    one, two = office.open(1), office.open(2)
    one.body.insert(0, [Paragraph((Run("a word here"),))])
    name = one.comments.begin(2, 6, "Which word?")
    office.settle()
    two.text.insert(0, "Now ")
    two.comments.answer(name, "This one.")
    one.comments.settle(name)
    office.settle()
    (thread,) = two.comments.threads()
    assert thread == one.comments.threads()[0]
    assert [(message.who, message.text) for message in thread.messages] == [
        (one.presence.mine.name, "Which word?"),
        (two.presence.mine.name, "This one."),
    ]
    assert thread.settled
    assert one.text.slice(thread.start, thread.end) == "word"
    one.text.delete(0, one.text.length)
    assert not one.comments.threads()[0].placed
    one.comments.remove(name)
    assert one.comments.threads() == []
    one.document.undo()
    assert len(one.comments.threads()) == 1
    one.close()
    two.close()


def test_bad_comments_are_refused_or_passed_over(office: Office) -> None:
    document = office.open(1)
    document.body.insert(0, [Paragraph((Run("abc"),))])
    for start, end, text in ((1, 1, "x"), (0, 2, "  "), (0, 2, "x" * 10_001)):
        with pytest.raises(DocumentError):
            document.comments.begin(start, end, text)
    document.document.map("comments").set("aa", "open")
    document.document.list("comment.aa").append(5, ["who"], [1, 2, 3], ["Eve", 1, "ok"])
    (thread,) = document.comments.threads()
    assert [message.text for message in thread.messages] == ["ok"]
    document.close()


def test_the_history_tells_who_and_when_and_an_old_state_comes_back_as_an_edit(
    office: Office,
) -> None:
    one, two = office.open(1), office.open(2)
    one.body.insert(0, [Paragraph((Run("first"),), Block("h1"))])
    office.settle()
    office.clock.advance(1000)
    two.text.insert(5, " second")
    office.settle()
    office.clock.advance(1000)
    one.text.insert(0, "third ")
    office.settle()
    history = stops(two.document, two.writers)
    assert [stop.who for stop in history] == [
        one.presence.mine.name,
        two.presence.mine.name,
        one.presence.mine.name,
    ]
    assert history[0].seconds < history[1].seconds < history[2].seconds
    texts = [str(two.document.at(stop.version).text("text")) for stop in history]
    assert texts == ["first", "first second", "third first second"]
    restore(two.document, two.writers, history[0].version)
    office.settle()
    assert one.body.content() == (Paragraph((Run("first"),), Block("h1")),)
    assert {stop.who for stop in stops(one.document, one.writers)} == {
        one.presence.mine.name,
        two.presence.mine.name,
    }
    two.document.undo()
    office.settle()
    assert str(one.text) == "third first second"
    one.close()
    two.close()


def test_one_signature_for_an_opening_however_much_is_written(office: Office) -> None:
    document = office.open(1)
    for number in range(20):
        document.text.insert(0, str(number))
    assert len(document.document.map("writers")) == 1
    document.document.undo()
    assert len(document.document.map("writers")) == 1
    document.close()


def test_a_fresh_document_has_one_empty_paragraph() -> None:
    body = RichBody(Document(1), random.Random(1).randbytes)
    assert body.content() == (Paragraph(),)
