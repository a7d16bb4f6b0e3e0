"""Sentences for a person, in their language: English in the code, with values by name.

Whoever shows them says how a sentence is translated (`translate_with`); until then it is English.
`installers/languages.py` gathers what stands in `worded` and `worded_n`, so never an f-string in
them.
"""

from __future__ import annotations

from collections.abc import Callable


def _as_it_is(text: str) -> str:
    return text


def _by_count(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


class _Translation:
    """The one that is in force."""

    translate: Callable[[str], str] = staticmethod(_as_it_is)
    translate_n: Callable[[str, str, int], str] = staticmethod(_by_count)


def translate_with(
    translate: Callable[[str], str], translate_n: Callable[[str, str, int], str] = _by_count
) -> None:
    """For all sentences from now on; what has been said stays."""
    _Translation.translate = staticmethod(translate)
    _Translation.translate_n = staticmethod(translate_n)


def worded(text: str, /, **values: object) -> str:
    """A sentence as the person reads it: `worded("The disk refuses: {reason}.", reason=why)`."""
    words = _Translation.translate(text)
    return words.format(**values) if values else words


def worded_n(one: str, many: str, /, count: int, **values: object) -> str:
    """One that depends on a number: `worded_n("{count} group", "{count} groups", count)`."""
    return _Translation.translate_n(one, many, count).format(count=f"{count:,}", **values)
