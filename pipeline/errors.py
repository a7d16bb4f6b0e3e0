"""The one way in which a job refuses: a sentence that says what is wrong and what to do."""

from __future__ import annotations

EXIT_BAD_INPUT = 2


class PipelineProblem(Exception):
    """Bad input, a missing part of the system, or a place that cannot be read or written."""
