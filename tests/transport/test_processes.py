"""Several processes on the loopback interface: they meet, talk, and survive the death of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# A member: tells when all are there, sends its share, tells what it has heard, waits for the word.
PROGRAM = """
import asyncio, sys
from transport.config import EngineConfig
from transport.engine import Engine
from transport.loop import AsyncioWatcher, EngineJoin
from transport.scopes import Scope

key, count, messages = bytes.fromhex(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])

def say(*words):
    print(*words, flush=True)

async def wait_for_members(group, wanted):
    async with group.views() as views:
        async for view in views:
            if len(view.members) == wanted:
                return

async def main():
    engine = Engine.open(EngineConfig(scope=Scope.from_key("Test", key), interface="lo"))
    EngineJoin(engine, AsyncioWatcher())
    group = engine.join(bytes(16), key)
    heard = {}
    def on_deliveries(batch):
        for sender, data in batch:
            heard.setdefault(sender, []).append(int(bytes(data)))
    group.on_deliveries = on_deliveries
    await wait_for_members(group, count)
    say("together")
    for number in range(messages):
        await group.send_soon(b"%d" % number)
    while sum(map(len, heard.values())) < count * messages:
        await asyncio.sleep(0.002)
    assert all(numbers == list(range(messages)) for numbers in heard.values()), heard
    say("heard", engine.health.name)
    word = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    if word.strip() == "one less":
        await wait_for_members(group, count - 1)
        await group.send_soon(b"%d" % messages)
        while sum(map(len, heard.values())) < count * messages + count - 1:
            await asyncio.sleep(0.002)
        say("went on")
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    say("closed", await engine.close())

asyncio.run(asyncio.wait_for(main(), 50))
"""


class Member:
    """One process; its lines are read one by one."""

    def __init__(self, key: bytes, count: int, messages: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, key.hex(), str(count), str(messages)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def hears(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        self.process.wait(10)


def start(count: int, messages: int) -> list[Member]:
    key = os.urandom(32)
    return [Member(key, count, messages) for _ in range(count)]


def test_four_processes_hear_everything_of_each_other_in_order() -> None:
    members = start(4, 200)
    try:
        for member in members:
            assert member.hears() == ["together"]
        healths = [member.hears()[1] for member in members]
        assert healths.count("HOST") == 1
        for member in members:
            member.tell("done")
        for member in members:
            assert member.hears() == ["closed", "True"]
    finally:
        for member in members:
            member.end()


def test_killed_host_is_replaced_and_the_rest_goes_on() -> None:
    members = start(3, 20)
    try:
        for member in members:
            assert member.hears() == ["together"]
        healths = [member.hears()[1] for member in members]
        host = members[healths.index("HOST")]
        rest = [member for member in members if member is not host]
        host.process.send_signal(signal.SIGKILL)
        for member in rest:
            member.tell("one less")
        for member in rest:
            assert member.hears() == ["went", "on"]
        for member in rest:
            member.tell("done")
            assert member.hears() == ["closed", "True"]
    finally:
        for member in members:
            member.end()
