"""Owns the names of a new kind of object: what a developer may choose, and what follows from it."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass

from app.errors import StartProblem
from liveobj.references.model import ID_PATTERN
from widgets.language import tr

# Longer ones would not fit the lines of the templates.
WORD_CHARACTERS_MAX = 24
TITLE_CHARACTERS_MAX = 40
SENTENCE_CHARACTERS_MAX = 72
_WORD = re.compile(r"[a-z]{2}[a-z0-9]*(-[a-z0-9]+)*")
_ICON = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# These would end a string in the source, or a line of it.
_UNQUOTABLE = re.compile(r'["\\{}\x00-\x1f\x7f\u2028\u2029]')


@dataclass(frozen=True, slots=True)
class KindNames:
    """A kind by all its names: `word` in commands, `title` and `sentence` on the screen,
    `template_id` in files, `icon` the name of a line icon."""

    word: str
    title: str
    sentence: str
    template_id: str
    icon: str

    @property
    def module(self) -> str:
        return self.word.replace("-", "_")

    @property
    def noun(self) -> str:
        return self.word.replace("-", " ")

    @property
    def class_name(self) -> str:
        return "".join(part.capitalize() for part in self.word.split("-"))

    @property
    def classes(self) -> tuple[str, str, str]:
        """The classes that the templates declare: what is shared, its proxy, its view."""
        return self.class_name, f"{self.class_name}Object", f"{self.class_name}View"

    def placeholders(self) -> dict[str, str]:
        """What stands for these names in the templates."""
        return {
            "word": self.word,
            "title": self.title,
            "sentence": self.sentence,
            "template_id": self.template_id,
            "icon": self.icon,
            "module": self.module,
            "noun": self.noun,
            "class_name": self.class_name,
        }


def name_kind(word: str, title: str, sentence: str, template_id: str, icon: str) -> KindNames:
    """The names as given, or those that follow from the word where one is empty; raises
    StartProblem."""
    if not _WORD.fullmatch(word) or len(word) > WORD_CHARACTERS_MAX:
        raise StartProblem(
            tr(
                "{word} cannot be the name of a kind. Use 2 to {most} small letters, digits and "
                "single hyphens, such as todo-list.",
                word=repr(word),
                most=WORD_CHARACTERS_MAX,
            )
        )
    noun = word.replace("-", " ")
    names = KindNames(
        word,
        title or noun.capitalize(),
        sentence or "Lines that several people write together",
        template_id or f"live-objects:{word}",
        icon,
    )
    if keyword.iskeyword(names.module):
        raise StartProblem(tr("{word} is a word of Python; choose another.", word=repr(word)))
    _check_text(tr("title"), names.title, TITLE_CHARACTERS_MAX)
    _check_text(tr("sentence"), names.sentence, SENTENCE_CHARACTERS_MAX)
    if not ID_PATTERN.fullmatch(names.template_id):
        raise StartProblem(
            tr(
                "{id} cannot be an id: one looks like example.com:todo-list, and never changes.",
                id=repr(names.template_id),
            )
        )
    if not _ICON.fullmatch(icon):
        raise StartProblem(tr("{icon} is not the name of an icon.", icon=repr(icon)))
    return names


def _check_text(what: str, text: str, most: int) -> None:
    if not text.strip() or len(text) > most or _UNQUOTABLE.search(text) or text.endswith("."):
        raise StartProblem(
            tr(
                "The {what} {given} cannot be used. Write one line of at most {most} characters "
                "without quotes, backslashes, braces and a full stop.",
                what=what,
                given=repr(text),
                most=most,
            )
        )
