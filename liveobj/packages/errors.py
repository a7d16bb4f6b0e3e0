"""Owns the error of a package that is not to be used."""

from __future__ import annotations

from liveobj.errors import Problem


class PackageProblem(Problem):
    """A package that is damaged, tampered with, or not wanted; the message is a sentence."""
