"""Owns the ways in which a reference can be wrong; each message is a sentence for a person."""

from __future__ import annotations

from liveobj.errors import Problem
from transport.sentences import worded


class ReferenceProblem(Problem):
    """A reference that cannot be read or used. `line` counts from 1; 0 where there is none."""

    def __init__(self, sentence: str, line: int = 0, file: str = "") -> None:
        self.sentence = sentence
        self.line = line
        self.file = file
        super().__init__(sentence, line, file)

    def __str__(self) -> str:
        line = worded("line {number}", number=self.line) if self.line else ""
        where = ", ".join(part for part in (self.file, line) if part)
        return f"{where}: {self.sentence}" if where else self.sentence

    def in_file(self, file: str) -> ReferenceProblem:
        """The same problem, naming the file it is in."""
        return type(self)(self.sentence, self.line, file)


class NotReadable(ReferenceProblem):
    """The file is missing, or may not be read."""


class NotXml(ReferenceProblem):
    """The text is not well-formed XML."""


class Refused(ReferenceProblem):
    """The text is XML of a kind that is never read: entities, document types, too much of
    anything."""


class NotAReference(ReferenceProblem):
    """The text is XML, but does not describe a live object."""


class TooNew(ReferenceProblem):
    """The reference was written in a form that this version does not know yet."""
