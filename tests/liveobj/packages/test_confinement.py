"""Code from packages runs in a process of its own: it can speak through its endpoints and do no
more, and whatever it does there is its own end only."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import SigningKey

from liveobj.confinement import process
from liveobj.confinement.frames import FRAME_BYTES_MAX, BadFrame, Frames, pack
from liveobj.declare import Dual, endpoint_type, incoming, outgoing, reflect_endpoint
from liveobj.objects.catalogue import DECLARED
from liveobj.objects.library import library
from liveobj.packages import PackageProblem, Question, Trust, build_package, read_package
from liveobj.references import External, Parameterized, Primitive, Value
from liveobj.references.type_expressions import SpelledType
from liveobj.runtime import CannotDereference, ProxyReference, ProxyState, Runtime
from liveobj.types import Named, ObjectType
from tests.liveobj.support import Clock, LocalNetwork, make_host

assert DECLARED
KEY = b"s" * 32
PUBLISHER = bytes(SigningKey(KEY).verify_key)
FAR = 4_000_000_000

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's own limits")

CODE = """
import os
from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.runtime.context import Context


@endpoint_type("example.com:echo-endpoint")
class EchoEndpoint:
    @incoming
    def ask(self, what: str) -> None: ...

    @outgoing
    def told(self, answer: str) -> None: ...


@live_object("example.com:echo-{n}", title="Echo")
class Echo:
    context: Context
    echo: EchoEndpoint

    def __init__(self, name: str = "nobody") -> None:
        self._name = name

    def on_echo_connected(self) -> None:
        self.echo.told("hello " + self._name)

    def on_echo_ask(self, what: str) -> None:
        if what == "die":
            os._exit(3)
        if what == "hang":
            while True:
                pass
        if what == "eat":
            self._eaten = [bytearray(1 << 24) for _ in range(1000)]
        if what == "talk":
            for _ in range(200):
                self.echo.told("blah" * 1000)
            self.context.host.scheduler.call_later(0, lambda: self.on_echo_ask("talk"))
            return
        if what == "lie":
            os.write(3, b"\\xff" * 100)
        if what == "later":
            self.context.host.scheduler.call_later(0.05, lambda: self.echo.told("later"))
            return
        if what == "join":
            self.context.host.network.join(bytes(16), bytes(32))
        if what.startswith("do "):
            try:
                self.echo.told(repr(eval(what[3:], {"os": os})))
            except BaseException as problem:
                self.echo.told(type(problem).__name__)
            return
        if what == "raise":
            raise ValueError("I do not want to")
        self.echo.told(what)
"""


@endpoint_type("test:echo")
class EchoEndpoint:
    @incoming
    def ask(self, what: str) -> None: ...

    @outgoing
    def told(self, answer: str) -> None: ...


TYPE = SpelledType(ObjectType(Named({"echo": reflect_endpoint(EchoEndpoint).type})))
_numbers = iter(range(1000))


class Listener:
    """Somebody connected to an echo."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.gone = False

    def told(self, answer: str) -> None:
        self.heard.append(answer)

    def disconnected(self) -> None:
        self.gone = True


class Desk:
    """A program with a real clock, turned by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.questions: list[Question] = []
        host = replace(
            make_host(LocalNetwork(), 1, folder, self.clock),
            wall_time=lambda: 1000.0,
            ask_consent=self._ask,
        )
        self.runtime = Runtime(host)
        self.notices: list[str] = []
        self.runtime.on_notice(lambda notice: self.notices.append(notice.sentence))

    def _ask(self, question: Question, answer: Callable[[bool], None]) -> None:
        self.questions.append(question)
        answer(True)

    def until(self, predicate: Callable[[], bool], limit_s: float = 15.0) -> None:
        end = time.monotonic() + limit_s
        while not predicate():
            assert time.monotonic() < end, f"it did not happen: {self.notices}"
            before = time.monotonic()
            time.sleep(0.005)
            self.clock.advance(time.monotonic() - before)

    def open(self, code: str = CODE, **options: Any) -> ProxyReference:
        number = next(_numbers)
        path = self.folder / f"package{number}.zip"
        files = {"__init__.py": code.replace("{n}", str(number)).encode()}
        objects = {"Echo": f"example.com:echo-{number}"}
        options = {"confined": True, "expires": FAR, "title": "Echo", **options}
        path.write_bytes(build_package(f"pack{number}", 1, files, objects, KEY, **options))
        reference = External("Echo", library(path, PUBLISHER), as_type=TYPE)
        proxy = self.runtime.dereference(reference)
        self.until(lambda: proxy.state not in (ProxyState.CREATED, ProxyState.CONNECTING))
        return proxy

    def listen(self, proxy: ProxyReference) -> tuple[Listener, Callable[[str], None]]:
        listener = Listener()
        endpoint = self.runtime.new_endpoint(Dual[EchoEndpoint], listener)
        self.runtime.connect(endpoint.external, proxy.endpoint("echo"))
        return listener, lambda what: endpoint.send("ask", {"what": what})


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.runtime.close()
    assert children() == set()


def children() -> set[str]:
    """Processes that this one has started and that still run."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and b"confinement" in line:
            found.add(folder.name)
    return found


def test_confined_object_speaks_through_its_endpoints(desk: Desk) -> None:
    proxy = desk.open()
    assert proxy.state is ProxyState.RUNNING, desk.notices
    assert desk.questions[0].confined
    assert "without access to the network or to your files" in desk.questions[0].sentence
    assert len(children()) == 1
    listener, ask = desk.listen(proxy)
    ask("one")
    ask("later")
    ask("two")
    desk.until(lambda: len(listener.heard) == 4)
    assert listener.heard == ["hello nobody", "one", "two", "later"]
    proxy.close()


def test_arguments_arrive_and_wrong_ones_are_refused_before_anything_starts(desk: Desk) -> None:
    proxy = desk.open()
    number = int(next(iter(desk.folder.glob("package*.zip"))).stem.removeprefix("package"))
    template = Primitive(f"example.com:echo-{number}")
    named = desk.runtime.dereference(Parameterized(template, {"name": Value("Ada")}))
    desk.until(lambda: named.state is ProxyState.RUNNING)
    listener, _ = desk.listen(named)
    desk.until(lambda: listener.heard == ["hello Ada"])
    with pytest.raises(CannotDereference):
        desk.runtime.dereference(Parameterized(template, {"name": Value(5)}))
    named.close()
    proxy.close()


FORBIDDEN = {
    "a socket": "__import__('socket').socket()",
    "a pair of sockets": "__import__('socket').socketpair()",
    "a file of the user's": "open('/etc/passwd').read()",
    "a list of files": "os.listdir('/home')",
    "the home folder": "os.listdir('/root')",
    "a new file": "open('/tmp/confined-test', 'w')",
    "a removed file": "os.unlink('/tmp/confined-test-2')",
    "a program": "os.execv('/bin/true', ['true'])",
    "a process": "os.fork()",
    "a child": "__import__('subprocess').run(['true'])",
    "a signal to its keeper": "os.kill(os.getppid(), 9)",
    "more memory": "__import__('resource').setrlimit(9, (1 << 40, 1 << 40))",
    "the memory of others": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "their environment": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
    "another view of the system": "__import__('ctypes').CDLL(None).unshare(0x10000000)",
}


def test_nothing_else_is_allowed(desk: Desk, tmp_path: Path) -> None:
    (Path("/tmp") / "confined-test-2").write_text("mine")
    try:
        listener, ask = desk.listen(desk.open())
        for what in FORBIDDEN.values():
            ask(f"do {what}")
        desk.until(lambda: len(listener.heard) == 1 + len(FORBIDDEN))
        refused = {"PermissionError", "FileNotFoundError", "ValueError", "OSError", "-1"}
        for what, answer in zip(FORBIDDEN, listener.heard[1:], strict=True):
            assert answer in refused, f"{what}: {answer}"
        assert (Path("/tmp") / "confined-test-2").exists()
    finally:
        (Path("/tmp") / "confined-test-2").unlink()
    listener, ask = desk.listen(desk.open())
    ask("do dict(os.environ)")
    desk.until(lambda: len(listener.heard) == 2)
    assert set(eval(listener.heard[1])) <= {"LC_ALL", "PYTHONDONTWRITEBYTECODE"}


@pytest.mark.parametrize(
    ("crime", "words"),
    [
        ("die", "has ended by itself"),
        ("hang", "did not answer"),
        ("raise", "I do not want to"),
        ("eat", "MemoryError"),
        ("join", "no network of its own"),
        ("lie", "said what it must not"),
    ],
)
def test_crime_is_the_end_of_the_one_who_did_it(
    desk: Desk, crime: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "ANSWER_S_MAX", 1.0 if crime == "hang" else 15.0)
    monkeypatch.setattr(process, "ASK_S", 0.2)
    guilty = desk.open()
    listener, ask = desk.listen(guilty)
    desk.until(lambda: bool(listener.heard))
    ask(crime)
    desk.until(lambda: listener.gone)
    assert any(words in notice for notice in desk.notices)
    # Whoever opens it again has a new process, where the old one has gone.
    number = max(int(p.stem.removeprefix("package")) for p in desk.folder.glob("package*.zip"))
    again = desk.runtime.dereference(Primitive(f"example.com:echo-{number}"))
    desk.until(lambda: again.state is ProxyState.RUNNING)
    other, ask_other = desk.listen(again)
    ask_other("back")
    desk.until(lambda: other.heard == ["hello nobody", "back"])
    again.close()


def test_one_that_talks_without_end_does_not_stop_the_others(desk: Desk) -> None:
    guilty, innocent = desk.open(), desk.open()
    listener, ask = desk.listen(guilty)
    other, ask_other = desk.listen(innocent)
    ask("talk")
    desk.until(lambda: len(listener.heard) > 1000)
    started = time.monotonic()
    ask_other("still here")
    desk.until(lambda: other.heard[-1:] == ["still here"])
    assert time.monotonic() - started < 3.0
    guilty.close()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise RuntimeError('not today')", "not today"),
        ("def", "SyntaxError"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("import os; os._exit(0)", "has ended by itself"),
        ("VALUE = 1", "does not have"),
    ],
)
def test_package_that_cannot_start_is_told(desk: Desk, code: str, words: str) -> None:
    proxy = desk.open(code)
    assert proxy.state is ProxyState.FAILED
    assert any(words in notice for notice in desk.notices)


def test_one_that_never_gets_ready_is_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "START_S_MAX", 1.0)
    proxy = desk.open("while True: pass")
    assert proxy.state is ProxyState.FAILED
    assert "did not answer" in desk.notices[0]


def test_system_that_cannot_confine_runs_nothing(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "ran"
    fake = (
        "from liveobj.confinement import child, system_limits;"
        "child.confine = lambda readable: frozenset({'limits'});"
        "import sys; sys.exit(child.main(sys.argv[1:]))"
    )
    monkeypatch.setattr(process, "child_command", lambda: [sys.executable, "-c", fake])
    proxy = desk.open(f"open({str(marker)!r}, 'w')")
    assert proxy.state is ProxyState.FAILED
    assert "cannot confine it (no limits on calls, files)" in desk.notices[0]
    assert not marker.exists()


@pytest.mark.parametrize(
    "said",
    [
        ["nonsense"],
        ["ready", {}],
        ["ready", {"example.com:other": {}}],
        ["event", "x"],
        [1],
        {"no": "list"},
    ],
)
def test_child_that_says_what_it_must_not_is_stopped(
    desk: Desk, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = (
        "import os, time; from liveobj.confinement.frames import pack;"
        f"os.write(1, pack(['limits', ['calls', 'files', 'limits']]) + pack({said!r}));"
        "time.sleep(60)"
    )
    monkeypatch.setattr(process, "child_command", lambda: [sys.executable, "-c", fake])
    proxy = desk.open()
    assert proxy.state is ProxyState.FAILED
    assert "said what it must not" in desk.notices[0]


def test_frames_are_bounded_and_rubbish_is_refused() -> None:
    frames = Frames()
    frames.add(pack(["a", 1])[:3])
    assert frames.next() is None
    frames.add(pack(["a", 1])[3:] + pack(["b"]))
    assert [frames.next(), frames.next(), frames.next()] == [["a", 1], ["b"], None]
    reference = Primitive("a:b")
    frames.add(pack(["r", reference]))
    assert frames.next() == ["r", reference]
    for rubbish in (b"\xff" * 8, b"\0\0\0\1\xc1", b"\0\0\0\1\x05", b"\0\0\0\4\xc7\1\2x"):
        frames = Frames()
        frames.add(rubbish)
        with pytest.raises(BadFrame):
            frames.next()
    with pytest.raises(BadFrame):
        pack(["x", bytes(FRAME_BYTES_MAX)])
    with pytest.raises(BadFrame):
        pack(["x", object()])


def test_package_that_gives_up_its_confinement_is_asked_about_again(tmp_path: Path) -> None:
    def package(version: int, confined: bool) -> Any:
        files = {"__init__.py": b""}
        return read_package(
            build_package("p", version, files, {}, KEY, expires=FAR, confined=confined)
        )

    trust = Trust(tmp_path / "publishers.json")
    assert not trust.check(package(1, True), 0)
    trust.accept(package(1, True))
    assert trust.check(package(2, True), 0)
    assert not trust.check(package(2, False), 0)
    trust.accept(package(2, False))
    assert trust.check(package(3, False), 0)
    with pytest.raises(PackageProblem):
        trust.check(package(1, True), 0)
