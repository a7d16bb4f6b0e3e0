"""The search index: finds what is in it, survives damage, takes any query."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.search_index import Entry, SearchIndex, query_of, search


def entry(number: int, title: str, body: str) -> Entry:
    return Entry(f"id{number}", f"/{number}.liveobject", "note", title, body)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "search.db"


@pytest.fixture
def index(file: Path) -> SearchIndex:
    index = SearchIndex(file)
    index.put(entry(1, "Team lunch", "Friday on the terrace, with lemon cake"))
    index.put(entry(2, "Lemon trees", "How to water them"))
    index.put(entry(3, "Größe", "Über die Straße 漢字"))
    return index


def titles(file: Path, text: str) -> list[str]:
    return [hit.title for hit in search(file, text)]


def test_titles_come_before_texts_and_words_may_be_unfinished(
    index: SearchIndex, file: Path
) -> None:
    assert titles(file, "lemon") == ["Lemon trees", "Team lunch"]
    assert titles(file, "lem cak") == []
    assert titles(file, "lemon cak") == ["Team lunch"]
    assert titles(file, "TERRACE") == ["Team lunch"]
    assert "lemon cake" in search(file, "cake")[0].snippet
    assert titles(file, "grosse") == []
    assert titles(file, "uber") == ["Größe"]


def test_the_newest_words_count_and_removed_ones_are_gone(index: SearchIndex, file: Path) -> None:
    index.put(entry(1, "Team dinner", "pasta"))
    assert titles(file, "lunch") == []
    assert titles(file, "pasta") == ["Team dinner"]
    index.remove("id1")
    index.remove("id1")
    assert titles(file, "pasta") == []
    assert index.identities() == {"id2", "id3"}
    index.clear()
    assert titles(file, "lemon") == []


def test_it_is_there_after_a_crash_without_closing(index: SearchIndex, file: Path) -> None:
    again = SearchIndex(file)
    assert titles(file, "lemon") == ["Lemon trees", "Team lunch"]
    again.close()


@pytest.mark.parametrize("damage", [b"nonsense", b""])
def test_a_damaged_index_is_begun_anew(index: SearchIndex, file: Path, damage: bytes) -> None:
    index.close()
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    file.write_bytes(damage * 600)
    assert titles(file, "lemon") == []
    again = SearchIndex(file)
    again.put(entry(4, "New", "lemonade"))
    assert titles(file, "lemonade") == ["New"]
    again.close()


def test_where_the_disk_refuses_nothing_is_found(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / "missing" / "search.db")
    index.put(entry(1, "x", "y"))
    assert index.identities() == set()
    index.close()


@given(st.text(max_size=60))
def test_any_query_is_answered(text: str) -> None:
    query = query_of(text)
    assert query == "" or query.endswith('"*')


def test_strange_queries_find_nothing_and_raise_nothing(index: SearchIndex, file: Path) -> None:
    for text in ('"', "AND OR NOT", "title:", "(", "*", "NEAR(a b)", "a" * 5000, "\x00", "'; DROP"):
        search(file, text)
    assert titles(file, "lemon") == ["Lemon trees", "Team lunch"]
