"""Words in the language of the person."""

from __future__ import annotations

from widgets.language import set_language, tr, tr_n


def test_without_a_catalogue_words_stay_english() -> None:
    set_language("xx_YY")
    assert tr("Saved {file}.", file="a {b}") == "Saved a {b}."
    assert tr("Odd {braces} stay") == "Odd {braces} stay"
    assert tr_n("{count} person", "{count} people", 1) == "1 person"
    assert tr_n("{count} person", "{count} people", 3) == "3 people"
