"""Owns the error of files that cannot be read or written as formatted text."""

from __future__ import annotations

from liveobj.errors import Problem


class FileProblem(Problem):
    """A file that cannot be taken in or written; its text is a sentence for a person."""
