"""The catalogues of languages: complete in form, and what is compiled is what is written."""

from __future__ import annotations

import gettext
import re
from pathlib import Path

import pytest

from installers.languages import (
    DOMAIN,
    FOLDER,
    gather,
    languages,
    missing,
    po_file,
    read_catalogue,
)
from widgets.kinds import KINDS
from widgets.language import LANGUAGES, inside, set_language, tr, tr_n, wanted_languages

PLACEHOLDER = re.compile(r"\{\w*\}")


def placeholders(text: str) -> set[str]:
    return set(PLACEHOLDER.findall(text))


def test_there_is_a_catalogue_for_every_language_that_can_be_chosen() -> None:
    assert set(languages()) == set(LANGUAGES) - {"en"}


@pytest.mark.parametrize("language", languages())
def test_what_is_compiled_is_what_is_written(language: str) -> None:
    compiled = gettext.translation(DOMAIN, str(FOLDER), languages=[language])
    for message in read_catalogue(language):
        if not message.id:
            continue
        if isinstance(message.id, tuple):
            one, many = message.id
            found = [compiled.ngettext(one, many, count) for count in (1, 2)]
            assert found == list(message.string), message.id
        else:
            assert compiled.gettext(message.id) == message.string, message.id


@pytest.mark.parametrize("language", languages())
def test_placeholders_agree(language: str) -> None:
    for message in read_catalogue(language):
        if not message.id or not message.string:
            continue
        if isinstance(message.id, tuple):
            allowed = placeholders(message.id[0]) | placeholders(message.id[1])
            for words in message.string:
                assert placeholders(words) <= allowed, message.id
            assert placeholders(message.string[-1]) == placeholders(message.id[1]), message.id
        else:
            assert placeholders(message.string) == placeholders(message.id), message.id


@pytest.mark.parametrize("language", languages())
def test_nothing_that_is_shown_is_missing(language: str) -> None:
    """`make languages` takes new texts into the catalogues; then somebody translates them."""
    assert missing(read_catalogue(language), gather()) == []


def test_kinds_are_named_by_words_that_are_looked_up() -> None:
    known = {message.id for message in gather()}
    for kind in KINDS:
        assert {kind.title, kind.sentence} <= known, kind.word


def test_german_is_spoken_and_given_up_again() -> None:
    try:
        set_language("de")
        assert tr("Save") == "Speichern"
        assert tr("in {title}", title="{x}") == "in {x}"
        assert tr_n("only you are here", "{count} people here", 3) == "3 Personen hier"
        assert inside("Notiz") == "Notiz"
    finally:
        set_language("en")
    assert tr("Save") == "Save"
    assert inside("Note") == "note"


@pytest.mark.parametrize(
    ("chosen", "environment", "wanted"),
    [
        ("de", {"LANG": "fr_FR.UTF-8"}, ["de"]),
        ("", {"LANG": "de_DE.UTF-8"}, ["de_DE"]),
        ("", {"LANGUAGE": "de:en", "LANG": "C"}, ["de", "en"]),
        ("", {"LC_ALL": "C", "LANG": "de_DE"}, ["C"]),
        ("", {}, []),
    ],
)
def test_the_language_is_the_chosen_one_or_the_systems(
    chosen: str, environment: dict[str, str], wanted: list[str]
) -> None:
    assert wanted_languages(chosen, environment) == wanted


def test_the_files_are_where_they_belong() -> None:
    for language in languages():
        assert po_file(language) == Path(FOLDER, language, "LC_MESSAGES", f"{DOMAIN}.po")
