"""The view of shared files: two people, contents on their way, opening with care."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QPushButton

from tests.app.conftest import MakePlace
from tests.app.memory_network import MemoryHub
from tests.widgets.pair import Pair, drop_on, show_view_only, view_of
from widgets.files.files_model import size_words
from widgets.roles import Mode


@pytest.fixture
def pair(make_place: MakePlace, hub: MemoryHub) -> Pair:
    return Pair(make_place, hub, "files")


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    found: list[Path] = []
    monkeypatch.setattr(
        QDesktopServices, "openUrl", lambda url: found.append(Path(url.toLocalFile()))
    )
    return found


def states(view: Any) -> dict[str, str]:
    return {file["name"]: file["state"] for file in view.describe()["files"]}


def add(pair: Pair, qtbot: Any, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    ada, _ = pair.views
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    drop_on(ada, mime)
    qtbot.waitUntil(lambda: path.name in states(ada))
    pair.settle()


def test_a_dropped_file_comes_to_the_other_with_progress(
    pair: Pair, qtbot: Any, tmp_path: Path
) -> None:
    ada, jun = pair.views
    words: list[str] = []
    jun.changed.connect(lambda: words.extend(states(jun).values()))
    data = random.Random(1).randbytes(3_000_000)
    add(pair, qtbot, tmp_path / "plan.pdf", data)
    assert states(ada) == {"plan.pdf": "here"}
    qtbot.waitUntil(lambda: states(jun) == {"plan.pdf": "here"}, timeout=10_000)
    assert any(word.startswith("on its way") for word in words)
    file = jun.files.files()[0]
    path = jun.files.exchange.find(file.newest.content)
    assert path.read_bytes() == data
    jun.save(path, tmp_path / "copy.pdf")
    assert (tmp_path / "copy.pdf").read_bytes() == data
    jun.save(path, tmp_path / "missing" / "copy.pdf")
    assert "refuses" in pair.jun.window.notice.text
    jun.show_newest()
    assert "3.0 MB" in jun.describe()["room"]


def test_what_nobody_has_says_so(pair: Pair, qtbot: Any) -> None:
    ada, jun = pair.views
    ada.files.put("ghost.txt", "e" * 64, 5)
    pair.settle()
    qtbot.waitUntil(lambda: states(jun) == {"ghost.txt": "nobody here has it now"})
    jun.choose("ghost.txt")
    jun.open_chosen()
    assert "being fetched" in pair.jun.window.notice.text
    assert not jun.grab().isNull()


def test_a_file_is_opened_as_a_copy_and_a_program_only_after_a_question(
    pair: Pair, qtbot: Any, tmp_path: Path, opened: list[Path]
) -> None:
    ada, _ = pair.views
    add(pair, qtbot, tmp_path / "notes.txt", b"hello")
    ada.choose("notes.txt")
    qtbot.keyClick(ada.list, Qt.Key.Key_Return)
    assert [path.name for path in opened] == ["notes.txt"]
    assert opened[0].read_bytes() == b"hello"
    assert opened[0].stat().st_mode & 0o777 == 0o400
    add(pair, qtbot, tmp_path / "tool", b"#!/bin/sh\n")
    ada.choose("tool")
    assert pair.ada.run("files.open")
    question = ada.findChild(QMessageBox)
    assert "tool" in question.text()
    qtbot.keyClick(question, Qt.Key.Key_Escape)
    assert len(opened) == 1
    pair.ada.run("files.open")
    question = next(each for each in ada.findChildren(QMessageBox) if each.isVisible())
    button = next(each for each in question.findChildren(QPushButton) if "Open it" in each.text())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert [path.name for path in opened] == ["notes.txt", "tool"]


def test_versions_rename_remove_and_undo(pair: Pair, qtbot: Any, tmp_path: Path) -> None:
    ada, jun = pair.views
    add(pair, qtbot, tmp_path / "plan.txt", b"one")
    add(pair, qtbot, tmp_path / "plan.txt", b"two!")
    qtbot.waitUntil(lambda: ada.describe()["files"][0]["versions"] == 2)
    ada.choose("plan.txt")
    menu = ada._file_menu()
    assert any(action.text() == "Older versions" for action in menu.actions())
    menu.deleteLater()
    ada.files.bring_back(ada.model.rows[0].identity, ada.model.rows[0].versions[1])
    pair.settle()
    qtbot.waitUntil(lambda: jun.describe()["files"][0]["size"] == 3)
    ada.choose("plan.txt")
    assert pair.ada.run("files.rename")
    editor = next(each for each in ada.list.findChildren(QLineEdit) if each.isVisible())
    editor.selectAll()
    qtbot.keyClicks(editor, "new plan.txt")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    QApplication.processEvents()
    assert list(states(ada)) == ["new plan.txt"]
    ada.choose("new plan.txt")
    assert pair.ada.run("files.remove")
    pair.settle()
    assert states(jun) == {}
    pair.ada.run("edit.undo")
    pair.settle()
    assert list(states(jun)) == ["new plan.txt"]


def test_a_copy_can_be_given_up_and_fetched_again(pair: Pair, qtbot: Any, tmp_path: Path) -> None:
    _, jun = pair.views
    add(pair, qtbot, tmp_path / "plan.txt", b"one")
    qtbot.waitUntil(lambda: states(jun) == {"plan.txt": "here"})
    jun.choose("plan.txt")
    assert pair.jun.run("files.free")
    assert states(jun) == {"plan.txt": "not fetched yet"}
    assert pair.jun.run("files.fetch")
    qtbot.waitUntil(lambda: states(jun) == {"plan.txt": "here"})


def test_what_cannot_be_added_is_said(pair: Pair, qtbot: Any, tmp_path: Path) -> None:
    ada, _ = pair.views
    (tmp_path / "folder").mkdir()
    ada.add_files([tmp_path / "folder", tmp_path / "missing"])
    assert "is a folder" in pair.ada.window.notice.text
    ada.files.exchange.store.quota_bytes = 2
    (tmp_path / "large").write_bytes(b"three")
    ada.add_files([tmp_path / "large"])
    qtbot.waitUntil(lambda: "no room" in pair.ada.window.notice.text)
    assert states(ada) == {}


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_junk_in_the_document_is_passed_over(pair: Pair, mode: Mode) -> None:
    ada, jun = pair.views
    pair.ada.window.theme.set_mode(mode)
    good = {"content": "a" * 64, "size": 5, "author": 7, "at": "x"}
    for number, value in enumerate([None, 5, b"x", [1], {"content": "../../x", "size": 1}, good]):
        jun.files.names.set(f"n{number}", value if number % 2 else "../../etc/passwd\u202etxt")
        jun.files.versions.set(f"n{number}/v", value)
    pair.settle()
    assert all("/" not in name for name in states(ada))
    assert not ada.grab().isNull()


def test_who_may_only_look_can_fetch_and_save(
    make_place: MakePlace, hub: MemoryHub, qtbot: Any, tmp_path: Path
) -> None:
    pair = Pair(make_place, hub, "files")
    add(pair, qtbot, tmp_path / "plan.txt", b"one")
    page = pair.ada.window.front
    assert page is not None
    mia = make_place("Mia")
    show_view_only(mia, page.opened.opening.reference)
    pair.settle()
    view = view_of(mia)
    qtbot.waitUntil(lambda: (hub.run(), states(view) == {"plan.txt": "here"})[1])
    view.choose("plan.txt")
    assert not mia.run("files.remove")
    assert not mia.run("files.add")
    assert mia.run("files.fetch")


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (12_300_000, "12 MB"), (5 * 10**9, "5.0 GB")],
)
def test_sizes_are_said_in_words(size: int, words: str) -> None:
    assert size_words(size) == words
