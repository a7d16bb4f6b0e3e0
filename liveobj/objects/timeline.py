"""Owns the history of a document as people see it: stops with who and when, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from liveobj.documents import Document, Version
from liveobj.objects.authorship import Authors
from liveobj.objects.writers import Writers

# Edits of one person with no longer pause than this are one stop.
PAUSE_S = 300


@dataclass(frozen=True, slots=True)
class Stop:
    """A state of the document: after edits of `who` (empty if nobody knows) that ended at about
    `seconds` since 1970 (0 if nobody took down the time). `fingerprint` is that of the identity
    that has signed these edits, empty where none has (yet): `who` is not verified then."""

    version: Version
    who: str
    seconds: int
    fingerprint: str = ""


def stops(document: Document, writers: Writers, authors: Authors | None = None) -> Sequence[Stop]:
    """From the oldest state to the one now. Edits that were made apart are put one after another,
    and every stop has all that came before it. With `authors`, signatures are checked."""
    found: list[Stop] = []
    version = Version()
    peer = None
    for entry in document.history():
        version = version.merged(entry.version)
        signed = None
        if authors is not None:
            signed = authors.author_of(entry.peer, entry.start, entry.length)
        name = writers.name_of(entry.peer) if signed is None else signed.name
        mark = "" if signed is None else signed.fingerprint
        stop = Stop(version, name, entry.seconds, mark)
        together = entry.peer == peer and bool(found) and found[-1].fingerprint == mark
        if together and entry.seconds - found[-1].seconds <= PAUSE_S:
            found[-1] = stop
        else:
            found.append(stop)
        peer = entry.peer
    return found


def restore(document: Document, writers: Writers, version: Version) -> None:
    """Makes the document as it was, by a new edit that can be undone; who wrote since stays
    known."""
    signatures = writers.keep_over()
    document.undo_boundary()
    document.bring_back(version)
    with document.transaction("sign", undoable=False):
        writers.sign_again(signatures)
