"""The words of a document, wherever they are in it."""

from __future__ import annotations

from liveobj.documents import Document
from liveobj.documents.words import WORDS_CHARACTERS_MAX, words_in


def test_words_are_found_in_every_container() -> None:
    document = Document(1)
    with document.transaction():
        document.text("text").insert(0, "plain words")
        document.map("about").set("title", "the title")
        document.list("rows").append("first", 5, None, True, "  ")
        document.movable_list("more").append({"deep": ["nested"]})
        tree = document.tree("tree")
        tree.set(tree.create(), "name", "a branch")
        document.map("about").set("reference", "<liveobject>secret</liveobject>")
    words = words_in(document).split("\n")
    assert {"plain words", "the title", "first", "nested", "a branch"} <= set(words)
    assert "secret" not in words_in(document)


def test_there_is_a_bound() -> None:
    document = Document(1)
    with document.transaction():
        for number in range(4):
            document.list("rows").append(f"{number}" * (WORDS_CHARACTERS_MAX // 3))
    assert len(words_in(document)) <= WORDS_CHARACTERS_MAX + 10
