"""What a program does with its disk, for the sweep of faults: each operation begins with a folder,
acknowledges what it was told is saved, and is checked afterwards on a disk that is well."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.errors import StartProblem
from app.network_profile import NetworkProfile
from app.paths import Paths, find_paths
from app.session import OpenObject, Session
from liveobj.documents import Document
from liveobj.errors import Problem
from liveobj.host import Host, Person
from liveobj.objects.text_note import TextNote, new_note
from liveobj.references import write_reference_file
from liveobj.storage import DocumentStore, ObjectStore, StorageError
from liveobj.storage import document_store as module
from liveobj.storage.document_store import RETRY_DELAY_S
from liveobj.storage.folding import fold_stored
from tests.liveobj.support import Clock, LocalNetwork
from widgets.kinds import KINDS

Acknowledge = Callable[[str], None]

BASE = tuple(f"base{number}" for number in range(12))
PADDING = "padding" * 60
FILES = {"x.db", "x.db-wal", "x.db-shm"}
# What stays when a database was put aside, with what belonged to it.
ASIDE = {"x.db.damaged-1", "x.db.damaged-1-wal", "x.db.damaged-1-shm"}


@dataclass(frozen=True, slots=True)
class Operation:
    """`prepare` fills a folder, `run` is under faults, `check` returns what is wrong after it."""

    name: str
    prepare: Callable[[Path], None]
    run: Callable[[Path, Acknowledge], None]
    check: Callable[[Path, set[str]], list[str]]


class Opened:
    """A document with its store, which is the way of the window (in the background) or not."""

    def __init__(self, folder: Path, peer: int, *, background: bool = False) -> None:
        self.clock = Clock()
        self.document = Document(peer)
        self.store = DocumentStore(
            self.document,
            ObjectStore(folder / "x.db"),
            self.clock,
            in_background=_at_once if background else None,
        )

    def write(self, word: str) -> None:
        self.document.text("text").insert(0, f"{word} ")

    @property
    def words(self) -> set[str]:
        return set(str(self.document.text("text")).split())


def _at_once(work: Callable[[], None], done: Callable[[Exception | None], None]) -> None:
    try:
        work()
    except StorageError as problem:
        done(problem)
    else:
        done(None)


# What folders begin with


def fill(folder: Path) -> None:
    opened = Opened(folder, 1)
    for word in BASE:
        opened.document.text("other").insert(0, PADDING)
        opened.write(word)
        assert opened.store.flush()
    opened.store.set_local("fact", b"known")
    opened.store.close()


def fill_and_spoil(folder: Path) -> None:
    fill(folder)
    data = bytearray((folder / "x.db").read_bytes())
    data[-4096:] = b"\xff" * 4096
    (folder / "x.db").write_bytes(data)


def fill_and_hide(folder: Path) -> None:
    """As version 0.1 left it after a full disk."""
    fill(folder)
    (folder / "x.db").rename(folder / "x.db.damaged-1")
    (folder / "new").mkdir()
    ObjectStore(folder / "new" / "x.db").close()
    (folder / "new" / "x.db").rename(folder / "x.db")
    (folder / "new").rmdir()


def fill_profile(folder: Path) -> None:
    paths = _paths(folder)
    paths.make()
    (folder / "identity").write_bytes(NetworkProfile.of(paths).identity().public)
    reference = new_note("Plan", random.Random(1).randbytes)
    write_reference_file(reference, folder / "plan.liveobject")
    note, session = _start(folder)
    for word in BASE:
        note.text.insert(0, f"{word} ")
        assert note.flush()
    session.close_all()


# What is done under faults


def open_only(folder: Path, _acknowledge: Acknowledge) -> None:
    opened = Opened(folder, 2)
    assert set(BASE) <= opened.words, "what was opened is whole"
    opened.store.close()


def save(folder: Path, acknowledge: Acknowledge) -> None:
    _save(Opened(folder, 2), acknowledge, 3)


def save_in_background(folder: Path, acknowledge: Acknowledge) -> None:
    module.COMPACT_AFTER_UPDATES = 2
    opened = Opened(folder, 2, background=True)
    for number in range(3):
        opened.write(f"word{number}")
        opened.clock.advance(2 * RETRY_DELAY_S)
        if opened.store.saved:
            acknowledge(f"word{number}")
    opened.store.close()


def compact(folder: Path, acknowledge: Acknowledge) -> None:
    module.COMPACT_AFTER_UPDATES = 2
    opened = Opened(folder, 2)
    _save(opened, acknowledge, 4)


def _save(opened: Opened, acknowledge: Acknowledge, edits: int) -> None:
    for number in range(edits):
        opened.write(f"word{number}")
        if opened.store.flush() or opened.store.flush():
            for before in range(number + 1):
                acknowledge(f"word{before}")
    opened.store.close()
    if opened.store.saved:
        acknowledge(f"word{edits - 1}")


def rescue(folder: Path, acknowledge: Acknowledge) -> None:
    opened = Opened(folder, 2)
    assert opened.store.warning is not None
    _save(opened, acknowledge, 2)


def remove_and_save(folder: Path, acknowledge: Acknowledge) -> None:
    opened = Opened(folder, 2)
    opened.write("first")
    opened.store.flush()
    for name in FILES:
        with suppress(OSError):
            (folder / name).unlink()
    if opened.store.flush():
        acknowledge("first")
        for word in BASE:
            acknowledge(word)
    _save(opened, acknowledge, 2)


def make_new(folder: Path, acknowledge: Acknowledge) -> None:
    _save(Opened(folder / "deep" / "down", 2), acknowledge, 2)


def fold(folder: Path, _acknowledge: Acknowledge) -> None:
    fold_stored(folder / "x.db")


def start(folder: Path, acknowledge: Acknowledge) -> None:
    """A profile, its identity, its session, one note."""
    note, session = _start(folder)
    assert set(BASE) <= set(str(note.text).split()), "what was opened is whole"
    for number in range(2):
        note.text.insert(0, f"word{number} ")
        if note.flush():
            for before in range(number + 1):
                acknowledge(f"word{before}")
    session.close_all()


def _paths(folder: Path) -> Paths:
    return find_paths({}, folder / "profile")


def _start(folder: Path) -> tuple[TextNote, Session]:
    paths = _paths(folder)
    paths.make()
    host = Host(
        LocalNetwork().node(1),
        paths.objects,
        Person("Ada"),
        Clock(),
        random.Random(str(paths.state)).randbytes,
        identity=NetworkProfile.of(paths).identity(),
    )
    session = Session(host, paths, KINDS)
    opened = session.open_file(folder / "plan.liveobject")
    assert isinstance(opened, OpenObject)
    note = opened.opening.shared
    assert isinstance(note, TextNote)
    return note, session


REFUSALS = (Problem, StartProblem, OSError)


# What must hold afterwards


def check_healthy(folder: Path, acknowledged: set[str]) -> list[str]:
    return _check(folder, {*BASE, *acknowledged}, whole=True, also=set())


def check_rescued(folder: Path, acknowledged: set[str]) -> list[str]:
    wrong = _check(folder, acknowledged, whole=False, also=ASIDE)
    opened = Opened(folder, 8)
    if opened.store.local("fact") != b"known":
        wrong.append("facts are lost")
    if not any(word in opened.words for word in BASE):
        wrong.append("nothing was rescued")
    opened.store.close()
    return wrong


def check_found(folder: Path, acknowledged: set[str]) -> list[str]:
    return _check(folder, {*BASE, *acknowledged}, whole=False, also=ASIDE)


def check_removed(folder: Path, acknowledged: set[str]) -> list[str]:
    return _check(folder, acknowledged, whole=True, also=set())


def check_new(folder: Path, acknowledged: set[str]) -> list[str]:
    return _check(folder / "deep" / "down", acknowledged, whole=True, also=set())


def _check(folder: Path, wanted: set[str], *, whole: bool, also: set[str]) -> list[str]:
    opened = Opened(folder, 9)
    missing = wanted - opened.words
    wrong = [f"lost: {sorted(missing)}"] if missing else []
    if whole and opened.store.warning is not None:
        wrong.append(f"warning: {opened.store.warning}")
    if not opened.store.flush():
        wrong.append(f"not saved: {opened.store.problem}")
    opened.store.close()
    names = {path.name for path in folder.iterdir()}
    if names - FILES - also:
        wrong.append(f"left behind: {sorted(names - FILES - also)}")
    return wrong


def check_profile(folder: Path, acknowledged: set[str]) -> list[str]:
    paths = _paths(folder)
    note, session = _start(folder)
    missing = {*BASE, *acknowledged} - set(str(note.text).split())
    wrong = [f"lost: {sorted(missing)}"] if missing else []
    if note.state.warning is not None:
        wrong.append(f"warning: {note.state.warning}")
    if NetworkProfile.of(paths).identity().public != (folder / "identity").read_bytes():
        wrong.append("the identity is another one")
    session.close_all()
    aside = [path.name for path in paths.objects.iterdir() if "damaged" in path.name]
    return [*wrong, *(f"left behind: {name}" for name in aside)]


OPERATIONS = (
    Operation("open", fill, open_only, check_healthy),
    Operation("save", fill, save, check_healthy),
    Operation("background", fill, save_in_background, check_healthy),
    Operation("compact", fill, compact, check_healthy),
    Operation("rescue", fill_and_spoil, rescue, check_rescued),
    Operation("hidden", fill_and_hide, open_only, check_found),
    Operation("removed", fill, remove_and_save, check_removed),
    Operation("new", lambda _: None, make_new, check_new),
    Operation("fold", fill, fold, check_healthy),
    Operation("start", fill_profile, start, check_profile),
)


def only_say_so(folder: Path, acknowledge: Acknowledge) -> None:
    opened = Opened(folder, 2)
    acknowledge("never written")
    opened.store.close()


def look(folder: Path, _acknowledge: Acknowledge) -> None:
    """A disk that may only be read from the beginning."""
    opened = Opened(folder, 2)
    assert set(BASE) <= opened.words, "what was opened is whole"
    assert "may only read" in (opened.store.warning or "")
    assert opened.store.local("fact") == b"known"
    opened.write("word")
    assert not opened.store.flush()
    assert "may only read" in (opened.store.problem or "")
    opened.store.close()


def fill_log(folder: Path) -> None:
    """With all that is in it still in the log, as after a kill."""
    (folder / "copy").mkdir()
    opened = Opened(folder / "copy", 1)
    for word in BASE:
        opened.write(word)
        assert opened.store.flush()
    opened.store.set_local("fact", b"known")
    for name in ("x.db", "x.db-wal"):
        shutil.copy(folder / "copy" / name, folder / name)
    opened.store.close()
    shutil.rmtree(folder / "copy")


LOOKS = (
    Operation("look", fill, look, check_healthy),
    Operation("look at log", fill_log, look, check_healthy),
)
# Not swept: it shows that a sweep notices what is lost.
LIAR = Operation("liar", fill, only_say_so, check_healthy)


def copy_folder(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
