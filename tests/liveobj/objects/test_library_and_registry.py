"""The library and the registry: objects from packages and names, asked for through folders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from liveobj.objects.catalogue import DECLARED
from liveobj.objects.library import library
from liveobj.objects.registry import UserRegistry
from liveobj.packages import Question, build_package
from liveobj.references import External, NamedType, Primitive, Reference, ReferenceProblem
from liveobj.runtime import ProxyReference, ProxyState, Runtime
from tests.liveobj.support import Clock, LocalNetwork, make_host

assert DECLARED
KEY = b"s" * 32
PUBLISHER = bytes(SigningKey(KEY).verify_key)
CODE = '''
"""A package for the tests."""

from liveobj.declare import live_object
from liveobj.objects.standard_types import MembershipEndpoint


@live_object("example.com:lonely-{n}", title="Lonely")
class Lonely:
    """Always alone."""

    membership: MembershipEndpoint

    def on_membership_connected(self) -> None:
        self.membership.view(1, [1])
'''
TYPE = NamedType("live-objects:membership")


class Desk:
    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.questions: list[Question] = []
        self.answers: list[Callable[[bool], None]] = []
        host = replace(
            make_host(LocalNetwork(), 1, folder, self.clock),
            wall_time=lambda: 1000.0,
            ask_consent=self.ask,
        )
        self.folder = host.folder
        self.runtime = Runtime(host)
        self.notices: list[str] = []
        self.runtime.on_notice(lambda notice: self.notices.append(notice.sentence))

    def ask(self, question: Question, answer: Callable[[bool], None]) -> None:
        self.questions.append(question)
        self.answers.append(answer)

    def open(self, reference: Reference) -> ProxyReference:
        proxy = self.runtime.dereference(reference)
        self.clock.advance(0.01)
        return proxy


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def write_package(folder: Path, number: int, version: int = 1) -> Path:
    path = folder / f"package{number}.zip"
    files = {"__init__.py": CODE.replace("{n}", str(number)).encode()}
    objects = {"Lonely": f"example.com:lonely-{number}"}
    path.write_bytes(
        build_package(f"pack{number}", version, files, objects, KEY, expires=2000, title="Lonely")
    )
    return path


def lonely(path: Path, name: str = "Lonely", publisher: bytes = PUBLISHER) -> External:
    return External(name, library(path, publisher), as_type=TYPE)


def test_code_runs_only_after_consent_and_is_remembered(desk: Desk, tmp_path: Path) -> None:
    path = write_package(tmp_path, 1)
    proxy = desk.open(lonely(path))
    assert proxy.state is ProxyState.CONNECTING
    assert "wants to run on this computer" in desk.questions[0].sentence
    desk.answers[0](True)
    desk.clock.advance(0.01)
    assert proxy.state is ProxyState.RUNNING
    proxy.close()
    desk.runtime.close()
    again = Desk(tmp_path)
    second = again.open(lonely(path))
    assert second.state is ProxyState.RUNNING
    assert again.questions == []
    again.runtime.close()


def test_without_consent_nothing_runs(desk: Desk, tmp_path: Path) -> None:
    proxy = desk.open(lonely(write_package(tmp_path, 2)))
    desk.answers[0](False)
    desk.clock.advance(0.01)
    assert proxy.state is ProxyState.FAILED
    assert "was not allowed to run" in desk.notices[0]
    assert not (desk.folder / "packages").exists()
    desk.runtime.close()


def test_an_answer_after_closing_is_too_late(desk: Desk, tmp_path: Path) -> None:
    proxy = desk.open(lonely(write_package(tmp_path, 3)))
    proxy.close()
    desk.runtime.close()
    desk.answers[0](True)
    assert not (desk.folder / "packages").exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: lonely(folder / "nowhere.zip"), "cannot be read"),
        (lambda folder: lonely(Path("/dev/zero")), "is not a file"),
        (lambda folder: lonely(write_package(folder, 4), publisher=b"x" * 32), "somebody else"),
    ],
)
def test_a_package_that_is_not_in_order_is_told(
    desk: Desk, tmp_path: Path, make: Callable[[Path], External], words: str
) -> None:
    proxy = desk.open(make(tmp_path))
    assert proxy.state is ProxyState.FAILED
    assert words in proxy.proxy.problem
    assert desk.questions == []
    desk.runtime.close()


def test_a_name_that_is_not_in_the_package_is_missing(desk: Desk, tmp_path: Path) -> None:
    proxy = desk.open(lonely(write_package(tmp_path, 5), name="Nobody"))
    desk.answers[0](True)
    desk.clock.advance(0.01)
    assert "There is no 'Nobody'" in proxy.proxy.problem
    desk.runtime.close()


def test_the_registry_gives_what_was_put_under_a_name(desk: Desk, tmp_path: Path) -> None:
    """The portable reference of thesis code 2.4: a channel from a platform from the registry."""
    registry = UserRegistry(desk.folder / "registry")
    path = write_package(tmp_path, 6)
    registry.set("MyPlatform", library(path, PUBLISHER))
    platform = External(
        "MyPlatform",
        Primitive("live-objects:registry"),
        as_type=NamedType("live-objects:folder"),
    )
    proxy = desk.open(External("Lonely", platform, as_type=TYPE))
    desk.answers[0](True)
    desk.clock.advance(0.01)
    assert proxy.state is ProxyState.RUNNING
    desk.runtime.close()


def test_names_of_the_registry(tmp_path: Path) -> None:
    registry = UserRegistry(tmp_path / "registry")
    names = ["../escape", "..", "a b/c", "été", "x.y", "%2e"]
    for name in names:
        registry.set(name, Primitive("a:b"))
        assert registry.get(name) == Primitive("a:b")
    assert sorted(registry) == sorted(names)
    assert [p.parent.name for p in tmp_path.rglob("*.liveobject")] == ["registry"] * len(names)
    registry.remove("..")
    registry.remove("..")
    assert registry.get("..") is None
    for name in ("", "x" * 300):
        with pytest.raises(ReferenceProblem, match="cannot be a name"):
            registry.get(name)


def test_a_damaged_entry_of_the_registry_is_told(desk: Desk) -> None:
    registry = UserRegistry(desk.folder / "registry")
    registry.set("x", Primitive("a:b"))
    next((desk.folder / "registry").iterdir()).write_text("<html/>")
    proxy = desk.open(External("x", Primitive("live-objects:registry"), as_type=TYPE))
    assert proxy.state is ProxyState.FAILED
    assert "not a live object" in desk.notices[0]
    desk.runtime.close()
