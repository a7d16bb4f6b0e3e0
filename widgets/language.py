"""Words in the language of the person: `tr` around every text that is shown.

Texts are English in the code and looked up in a gettext catalogue when they are shown. Values are
filled in by name, so that a translation can put them in another order: never an f-string in `tr`.
"""

from __future__ import annotations

import gettext

import assets

DOMAIN = "live-objects"


class _Language:
    """The one that is in force."""

    catalogue: gettext.NullTranslations = gettext.NullTranslations()


def set_language(*languages: str) -> None:
    """Uses the first of the languages for which there is a catalogue, or English; for all that is
    shown from now on."""
    _Language.catalogue = gettext.translation(
        DOMAIN, str(assets.languages_folder()), languages=list(languages), fallback=True
    )


def tr(text: str, **values: object) -> str:
    """A text as the person reads it: `tr("Saved {file}.", file=name)`."""
    words = _Language.catalogue.gettext(text)
    return words.format(**values) if values else words


def tr_n(one: str, many: str, count: int, **values: object) -> str:
    """A text that depends on a number: `tr_n("{count} person", "{count} people", n)`."""
    return _Language.catalogue.ngettext(one, many, count).format(count=count, **values)
