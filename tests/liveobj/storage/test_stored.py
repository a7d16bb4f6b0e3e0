"""A stored document is read without opening its object, and without changing a byte."""

from __future__ import annotations

from pathlib import Path

from liveobj.documents import Document
from liveobj.storage import ObjectStore
from liveobj.storage.stored import read_stored


def test_what_was_stored_is_read(tmp_path: Path) -> None:
    document = Document(1)
    with document.transaction():
        document.text("text").insert(0, "kept")
    path = tmp_path / "object.db"
    store = ObjectStore(path)
    store.append(document.export_snapshot())
    store.append(b"not an update")
    store.close()
    found = read_stored(path)
    assert found is not None
    assert found.text("text").to_string() == "kept"
    assert not found.editable


def test_what_cannot_be_read_is_nothing(tmp_path: Path) -> None:
    assert read_stored(tmp_path / "missing.db") is None
    assert not (tmp_path / "missing.db").exists()
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"nonsense" * 200)
    assert read_stored(broken) is None
