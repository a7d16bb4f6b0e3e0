"""Sentences for a person: English by themselves, in another language where one is in force."""

from __future__ import annotations

from collections.abc import Iterator
from string import Formatter

import pytest

from installers.languages import gather, languages, read_catalogue
from liveobj.references import ReferenceProblem, read_reference
from transport.sentences import translate_with, worded, worded_n


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    translate_with(str)


def test_values_are_filled_in_by_name_and_are_not_read_again() -> None:
    assert worded("The disk refuses: {reason}.", reason="{full}") == "The disk refuses: {full}."
    assert worded("Braces {stay} without values") == "Braces {stay} without values"
    assert worded("{text}!", text="x") == "x!"
    texts = ("{count} group of {who}", "{count} groups of {who}")
    assert worded_n(*texts, 1, who="Ada") == "1 group of Ada"
    assert worded_n(*texts, 1200, who="{count}") == "1,200 groups of {count}"


def test_problems_are_told_in_the_language_in_force() -> None:
    with pytest.raises(ReferenceProblem, match="line 1: This is XML, but not a live object"):
        read_reference(b"<page/>")
    german = read_catalogue("de")
    translate_with(lambda text: str(german[text].string))
    with pytest.raises(ReferenceProblem, match="Zeile 1: Das ist XML, aber kein Live-Objekt"):
        read_reference(b"<page/>")


@pytest.mark.parametrize("language", languages())
def test_translations_name_the_same_values(language: str) -> None:
    catalogue = read_catalogue(language)
    wrong = []
    for message in gather():
        found = catalogue.get(message.id) if message.id else None  # type: ignore[arg-type]
        if found is None:
            continue
        texts = message.id if isinstance(message.id, tuple | list) else (message.id,)
        words = found.string if isinstance(found.string, tuple | list) else (found.string,)
        if not {name for text in words for name in _names(text)} <= _names(" ".join(texts)):
            wrong.append(message.id)
    assert not wrong


def _names(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}
