"""The error that is for the person who started the program: one sentence, exit code 2."""

from __future__ import annotations

EXIT_BAD_INPUT = 2
# As a shell tells of a command that SIGINT or SIGPIPE ended.
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 141


class StartProblem(Exception):
    """Why the program does not start; `str()` is one sentence that says what to do."""
