"""Owns the errors of replicated documents and the guard that turns the library's into ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from liveobj.errors import Problem


class DocumentError(Problem):
    """A replicated document could not do what was asked; it is unchanged."""


class BadUpdate(DocumentError):
    """Bytes that claim to be an update, a version or a cursor, and are not."""


class TooCostly(BadUpdate):
    """An update that would take too much time and memory to merge."""


class PositionError(DocumentError):
    """A position outside a text or list, or inside one character."""


class ReadOnly(DocumentError):
    """An edit by somebody who may only look."""


@contextmanager
def loro_errors(error: type[DocumentError], doing: str) -> Iterator[None]:
    """Turns what loro raises into `error`, with a sentence that starts with `doing`.

    loro raises bare BaseException, and its bindings raise PanicException, which derives from
    BaseException too; neither would be caught by `except Exception` anywhere above. Anything else
    that is not an Exception (KeyboardInterrupt …) is not loro's and passes.
    """
    try:
        yield
    except Exception as problem:
        if isinstance(problem, DocumentError):
            raise
        raise error(f"{doing}: {problem}") from problem
    except BaseException as problem:
        if type(problem) is BaseException or type(problem).__name__ == "PanicException":
            # the text after "Position:" is a path inside the library's sources
            reason = str(problem).split(" Position:")[0]
            raise error(f"{doing}: {reason}") from None
        raise
