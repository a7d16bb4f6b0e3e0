"""Who wrote: signed before the first edit, so that letters typed together are undone together."""

from __future__ import annotations

from liveobj.documents import Document
from liveobj.objects.writers import Writers


def test_the_first_letters_are_undone_together_and_the_name_stays() -> None:
    document = Document(5, undo_merge_ms=1000)
    writers = Writers(document, "Ada")
    text = document.text("text")
    assert writers.name_of(5) == ""
    for position, letter in enumerate("mine"):
        text.insert(position, letter)
    document.undo()
    assert text.to_string() == ""
    assert writers.name_of(5) == "Ada"


def test_strange_entries_are_nobody() -> None:
    document = Document(6)
    writers = Writers(document, "Ada")
    document.map("writers").set("7", ["x"])
    assert writers.name_of(7) == ""
    assert writers.name_of(8) == ""
