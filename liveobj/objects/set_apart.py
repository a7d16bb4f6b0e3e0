"""Owns what happens to a copy of an object that differs from the others' though it should not: it
is kept as an object of its own, and the next opening begins with what the others have.

Two writers have used one identity then (see `channels.twin_check`); the copies cannot be merged.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from liveobj.capabilities import new_object_keys
from liveobj.documents import Document
from liveobj.references import (
    Parameterized,
    Reference,
    Secrets,
    Value,
    fingerprint,
    write_reference_file,
)
from liveobj.references.writing import file_name
from liveobj.storage import ObjectStore

_FACT = "set apart"
_FOLDER = "other copies"


def keep_copy(
    reference: Reference,
    title: str,
    document: Document,
    folder: Path,
    random_bytes: Callable[[int], bytes],
) -> Path:
    """Makes an object of its own from this copy, with keys of its own; returns its file, which lies
    in a folder beside the databases. Raises StorageError or ReferenceProblem."""
    assert isinstance(reference, Parameterized), "documents have parameters"
    keys = new_object_keys(random_bytes)
    assert keys.signing is not None, "new keys can sign"
    arguments = {
        **reference.arguments,
        "title": Value(title),
        "verify_key": Value(keys.verify),
    }
    copy = Parameterized(
        reference.template,
        arguments,
        secrets=Secrets({"group": keys.group, "signing": keys.signing}),
    )
    store = ObjectStore(folder / f"{fingerprint(copy)}.db")
    store.append(document.export_snapshot())
    store.close()
    place = folder.parent / _FOLDER
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{file_name(title)} {str(fingerprint(copy))[:6]}.liveobject"
    write_reference_file(copy, path)
    return path


def mark_apart(store: ObjectStore) -> None:
    """From the next opening on, this database begins with nothing."""
    store.set_fact(_FACT, b"1")
    store.sync()


def begin_again(store: ObjectStore) -> None:
    """Empties a database that was set apart; its content is in the copy."""
    if store.fact(_FACT) == b"1":
        list(store.updates())
        store.compact(Document(1).export_snapshot())
        store.set_fact(_FACT, b"")
