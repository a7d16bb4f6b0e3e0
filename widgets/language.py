"""Words in the language of the person: `tr` around every text that is shown.

Texts are English in the code and looked up in a gettext catalogue when they are shown. Values are
filled in by name, so that a translation can put them in another order: never an f-string in `tr`.
"""

from __future__ import annotations

import gettext
from collections.abc import Mapping

import assets
from transport.sentences import translate_with

DOMAIN = "live-objects"
# The languages that there are, each by its own name.
LANGUAGES = {"en": "English", "de": "Deutsch"}


class _Language:
    """The one that is in force."""

    catalogue: gettext.NullTranslations = gettext.NullTranslations()


def set_language(*languages: str) -> None:
    """Uses the first of the languages for which there is a catalogue, or English; for all that is
    shown from now on."""
    folder = str(assets.languages_folder())
    _Language.catalogue = gettext.translation(
        DOMAIN, folder, languages=list(languages), fallback=True
    )
    translate_with(_Language.catalogue.gettext, _Language.catalogue.ngettext)
    # What Python says to a person by itself: its parser of command lines asks there.
    gettext.bindtextdomain(DOMAIN, folder)
    gettext.textdomain(DOMAIN)


def wanted_languages(chosen: str, environment: Mapping[str, str]) -> list[str]:
    """The languages to try, best first: what the person has chosen, or else what the system has."""
    if chosen:
        return [chosen]
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = environment.get(name, "")
        if value:
            return [part.partition(".")[0] for part in value.split(":") if part]
    return []


def language() -> str:
    """The code of the language in force."""
    return _Language.catalogue.info().get("language", "en")


def tr(text: str, **values: object) -> str:
    """A text as the person reads it: `tr("Saved {file}.", file=name)`."""
    words = _Language.catalogue.gettext(text)
    return words.format(**values) if values else words


def tr_n(one: str, many: str, count: int, **values: object) -> str:
    """A text that depends on a number: `tr_n("{count} person", "{count} people", n)`."""
    return _Language.catalogue.ngettext(one, many, count).format(count=count, **values)


def inside(noun: str) -> str:
    """A noun as it is written inside a sentence: small, but for languages that write all nouns
    with a capital."""
    return noun if language().startswith("de") else noun[:1].lower() + noun[1:]
