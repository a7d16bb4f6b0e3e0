"""Folding: less on the disk, the same document and history, or nothing changed and a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from liveobj.documents import Document
from liveobj.storage import ObjectStore
from liveobj.storage.folding import fold_stored
from liveobj.storage.stored import read_stored


def write(path: Path, edits: int) -> Document:
    document = Document(7)
    store = ObjectStore(path)
    for number in range(edits):
        before = document.version
        with document.transaction(f"edit {number}"):
            document.text("text").insert(0, f"line {number} of many, written one by one\n")
        store.append(document.export_since(before))
    store.close()
    return document


def test_many_updates_become_one_with_the_same_history(tmp_path: Path) -> None:
    path = tmp_path / "object.db"
    document = write(path, 400)
    done = fold_stored(path)
    assert (done.updates, done.why_not) == (400, "")
    assert done.bytes_after < done.bytes_before / 2
    assert path.stat().st_size == done.bytes_after
    found = read_stored(path)
    assert found is not None
    assert found.to_plain() == document.to_plain()
    assert found.version.includes(document.version)
    assert len(found.history()) == len(document.history())
    store = ObjectStore(path)
    assert store.update_count == 1
    # What is written later comes behind it.
    before = document.version
    with document.transaction():
        document.text("text").insert(0, "later\n")
    store.append(document.export_since(before))
    store.close()
    found = read_stored(path)
    assert found is not None
    assert found.text("text").to_string().startswith("later")
    assert fold_stored(path).updates == 2
    assert fold_stored(path).updates == 1


@pytest.mark.parametrize(
    ("data", "signature", "why"),
    [(b"nonsense", b"", "damaged"), (b"", b"", "damaged"), (b"x", b"signed", "signed")],
)
def test_what_cannot_be_folded_is_left_as_it_is(
    data: bytes, signature: bytes, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "object.db"
    write(path, 3)
    store = ObjectStore(path)
    store.append(data, signature)
    kept = list(store.updates())
    store.close()
    assert why in fold_stored(path).why_not
    store = ObjectStore(path)
    assert list(store.updates()) == kept
    store.close()


def test_updates_that_wait_for_others_are_not_dropped(tmp_path: Path) -> None:
    path, part = tmp_path / "object.db", tmp_path / "part.db"
    write(path, 3)
    whole, store = ObjectStore(path), ObjectStore(part)
    for update in list(whole.updates())[1:]:
        store.append(update.data)
    whole.close()
    store.close()
    assert fold_stored(part).why_not
    store = ObjectStore(part)
    assert store.update_count == 2
    store.close()


def test_an_empty_one_and_a_snapshot_that_differs_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "object.db"
    ObjectStore(path).close()
    assert "nothing" in fold_stored(path).why_not
    write(path, 3)
    monkeypatch.setattr(
        Document, "export_snapshot", lambda self: Document(9).export_since(Document(9).version)
    )
    assert "not have been the same" in fold_stored(path).why_not
    store = ObjectStore(path)
    assert store.update_count == 3
    store.close()
