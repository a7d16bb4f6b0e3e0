"""The text note as a live object in the runtime."""

from __future__ import annotations

import random
from pathlib import Path

from liveobj.declare import Dual
from liveobj.objects.catalogue import DECLARED
from liveobj.objects.standard_types import TextEndpoint
from liveobj.objects.text_note import new_note
from liveobj.runtime import ProxyState, Runtime
from tests.liveobj.support import Clock, LocalNetwork, make_host

NOTE = new_note("Plan", random.Random(9).randbytes)
assert DECLARED


class Reader:
    def __init__(self) -> None:
        self.text = "?"

    def changed(self, text: str) -> None:
        self.text = text


class Desk:
    def __init__(self, tmp_path: Path, nodes: int) -> None:
        self.clock, self.network = Clock(), LocalNetwork()
        self.runtimes = [
            Runtime(make_host(self.network, n, tmp_path, self.clock)) for n in range(1, nodes + 1)
        ]

    def settle(self) -> None:
        for _ in range(3):
            self.network.run()
            self.clock.advance(0.1)


def test_two_desks_share_a_note_through_endpoints(tmp_path: Path) -> None:
    desk = Desk(tmp_path, 2)
    proxies = [runtime.dereference(NOTE) for runtime in desk.runtimes]
    readers = [Reader(), Reader()]
    faces = []
    for runtime, proxy, reader in zip(desk.runtimes, proxies, readers, strict=True):
        mine = runtime.new_endpoint(Dual[TextEndpoint], reader)
        runtime.connect(mine.external, proxy.endpoint("text"))
        faces.append(mine)
    desk.settle()
    assert [reader.text for reader in readers] == ["", ""]
    faces[0].send("insert", {"position": 0, "text": "hello"})
    desk.settle()
    assert [reader.text for reader in readers] == ["hello", "hello"]
    notices: list[str] = []
    desk.runtimes[0].on_notice(lambda notice: notices.append(notice.sentence))
    faces[0].send("delete", {"position": 90, "length": 1})
    desk.settle()
    assert proxies[0].state is ProxyState.RUNNING
    assert notices[0].startswith("Cannot delete 1 from 90")
    for proxy in proxies:
        proxy.close()
    assert desk.clock.pending == 0


def test_two_windows_of_one_program_show_one_note(tmp_path: Path) -> None:
    desk = Desk(tmp_path, 1)
    runtime = desk.runtimes[0]
    first, second = runtime.dereference(NOTE), runtime.dereference(NOTE)
    assert first.instance.note is second.instance.note
    assert len(desk.network.groups) == 1
    first.close()
    second.instance.note.text.insert(0, "still open")
    second.close()
    assert len(runtime.resources) == 0


def test_a_sleeping_note_leaves_its_group_and_catches_up_on_waking(tmp_path: Path) -> None:
    desk = Desk(tmp_path, 2)
    here, there = (runtime.dereference(NOTE) for runtime in desk.runtimes)
    desk.settle()
    desk.runtimes[0].sleep(here)
    desk.clock.advance(400)
    assert there.instance.note.state.people == 1
    there.instance.note.text.insert(0, "meanwhile")
    here.instance.note.text.insert(0, "dreamt, ")
    desk.settle()
    assert str(here.instance.note.text) == "dreamt, "
    desk.runtimes[0].wake(here)
    desk.settle()
    assert str(here.instance.note.text) == str(there.instance.note.text)
    assert len(str(here.instance.note.text)) == len("dreamt, meanwhile")
    here.close()
    there.close()
