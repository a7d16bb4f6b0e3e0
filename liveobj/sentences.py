"""Sentences for a person, in their language: English in the code, with values by name.

Whoever shows them says how a sentence is translated (`translate_with`); until then it is English.
`installers/languages.py` gathers what stands in `worded`, so never an f-string in it.
"""

from __future__ import annotations

from collections.abc import Callable


def _as_it_is(text: str) -> str:
    return text


class _Translation:
    """The one that is in force."""

    translate: Callable[[str], str] = staticmethod(_as_it_is)


def translate_with(translate: Callable[[str], str]) -> None:
    """For all sentences from now on; what has been said stays."""
    _Translation.translate = staticmethod(translate)


def worded(text: str, /, **values: object) -> str:
    """A sentence as the person reads it: `worded("The disk refuses: {reason}.", reason=why)`."""
    words = _Translation.translate(text)
    return words.format(**values) if values else words
