"""The processes of `live-objects bench python`: senders and receivers, ours and of others.

Run as `python -m transport.benches.callback_roles SYSTEM ROLE SECONDS ADDRESS`. A receiver counts
what its callback gets; it prints `ready`, then, whenever its input says `count`, how many messages
it has and how many seconds of processor time it has used. The sender sends as fast as it is let for
so many seconds. Every system is told to lose nothing. The other systems are imported by name only
when they are measured: nothing here depends on them.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from transport.config import EngineConfig
from transport.engine import Engine
from transport.interfaces import Delivery
from transport.loop import AsyncioWatcher, EngineJoin
from transport.scopes import Scope

BYTES = 1000
RECEIVERS = 2
WAIT_S = 20.0
PAYLOAD = bytes(range(256)) * 4
MESSAGE = PAYLOAD[:BYTES]


class Count:
    """What a receiver has seen; read by the thread that answers the parent."""

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0

    def on_batch(self, batch: Sequence[Delivery]) -> None:
        self.messages += len(batch)

    def on_message(self, data: Any) -> None:
        self.messages += 1
        self.bytes += len(data)


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


def _answer(count: Count) -> None:
    """Tells the count whenever the parent asks; ends with the input."""
    for _ in sys.stdin:
        _tell(count)


def _tell(count: Count) -> None:
    _say(f"{count.messages} {time.process_time()}")


# Ours


class _Endless:
    """A feed that always has one more message."""

    def pull(self, bytes_max: int) -> bytes | None:
        return MESSAGE

    def pull_many(self, count_max: int, bytes_max: int) -> Sequence[bytes]:
        return [MESSAGE] * count_max


async def _open(address: str) -> tuple[Engine, Any]:
    key = bytes.fromhex(address)
    engine = Engine.open(EngineConfig(scope=Scope.from_key("Bench", key), interface="lo"))
    EngineJoin(engine, AsyncioWatcher())
    group = engine.join(bytes(16), key)
    async with asyncio.timeout(WAIT_S), group.views() as views:
        async for view in views:
            if len(view.members) == RECEIVERS + 1:
                break
    return engine, group


async def _receive_ours(address: str, count: Count, *, each: bool) -> None:
    engine, group = await _open(address)
    if each:
        on_message = count.on_message

        def on_deliveries(batch: Sequence[Delivery]) -> None:
            for _, data in batch:
                on_message(data)

        group.on_deliveries = on_deliveries
    else:
        group.on_deliveries = count.on_batch
    _say("ready")
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.readline():
        _tell(count)
    engine.destroy()


async def _send_ours(address: str, seconds: float) -> None:
    engine, group = await _open(address)
    _say("ready")
    feed = _Endless()
    group.offer(feed)
    await asyncio.sleep(seconds)
    group.withdraw(feed)
    _say("sent")
    engine.destroy()


def ours(role: str, seconds: float, address: str, *, each: bool) -> None:
    if role == "receive":
        asyncio.run(_receive_ours(address, Count(), each=each))
    else:
        asyncio.run(_send_ours(address, seconds))


# Others


def _for_seconds(seconds: float, send: Callable[[], object]) -> None:
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        for _ in range(50):
            send()


def zmq(role: str, seconds: float, address: str) -> None:
    """pyzmq over TCP; a publisher that waits instead of dropping."""
    library: Any = import_module(OTHERS["pyzmq"])
    with library.Context() as context:
        if role == "receive":
            socket = context.socket(library.SUB)
            socket.setsockopt(library.SUBSCRIBE, b"")
            socket.connect(address)
            count = Count()
            threading.Thread(target=_answer, args=(count,), daemon=True).start()
            _say("ready")
            on_message = count.on_message
            while True:
                on_message(socket.recv())
        socket = context.socket(library.XPUB)
        socket.setsockopt(library.XPUB_NODROP, 1)
        socket.setsockopt(
            library.XPUB_VERBOSE, 1
        )  # tells of every receiver, not of the first alone
        socket.bind(address)
        for _ in range(RECEIVERS):
            socket.recv()
        _say("ready")
        _for_seconds(seconds, lambda: socket.send(MESSAGE))
        _say("sent")
        socket.close(linger=0)


def zenoh(role: str, seconds: float, address: str) -> None:
    """eclipse-zenoh, peer to peer, blocking when it is congested."""
    library: Any = import_module(OTHERS["eclipse-zenoh"])
    config = library.Config()
    place = f'["{address}"]'
    config.insert_json5("scouting/multicast/enabled", "false")
    if role == "receive":
        config.insert_json5("connect/endpoints", place)
        config.insert_json5("listen/endpoints", "[]")
        count = Count()
        with library.open(config) as session:
            session.declare_subscriber(
                "bench", lambda sample: count.on_message(sample.payload.to_bytes())
            )
            _say("ready")
            _answer(count)
        return
    config.insert_json5("listen/endpoints", place)
    with library.open(config) as session:
        publisher = session.declare_publisher(
            "bench", congestion_control=library.CongestionControl.BLOCK
        )
        time.sleep(2.0)  # until the receivers have connected; it does not tell
        _say("ready")
        _for_seconds(seconds, lambda: publisher.put(MESSAGE))
        _say("sent")


def dds(role: str, seconds: float, address: str) -> None:
    """cyclonedds, reliable and keeping all."""
    name = OTHERS["cyclonedds"]
    domain: Any = import_module(f"{name}.domain")
    core: Any = import_module(f"{name}.core")
    topics: Any = import_module(f"{name}.topic")
    idl: Any = import_module(f"{name}.idl")
    types: Any = import_module(f"{name}.idl.types")
    sample = _dds_type(idl, types)
    second_s = 1_000_000_000
    quality = core.Qos(
        core.Policy.Reliability.Reliable(max_blocking_time=10 * second_s),
        core.Policy.History.KeepAll,
    )
    participant = domain.DomainParticipant(int(address))
    topic = topics.Topic(participant, "bench", sample, qos=quality)
    if role == "receive":
        subscribing: Any = import_module(f"{name}.sub")
        reader = subscribing.DataReader(participant, topic, qos=quality)
        count = Count()
        threading.Thread(target=_answer, args=(count,), daemon=True).start()
        _say("ready")
        while True:
            for message in reader.take_iter(timeout=60 * second_s):
                count.on_message(message.data)
    publishing: Any = import_module(f"{name}.pub")
    writer = publishing.DataWriter(participant, topic, qos=quality)
    end_s = time.monotonic() + WAIT_S
    while len(writer.get_matched_subscriptions()) < RECEIVERS and time.monotonic() < end_s:
        time.sleep(0.01)
    message = sample(data=MESSAGE)
    _say("ready")
    _for_seconds(seconds, lambda: writer.write(message))
    _say("sent")


def _dds_type(idl: Any, types: Any) -> Any:
    fields = {"data": types.array[types.uint8, BYTES]}
    kind = type("Sample", (idl.IdlStruct,), {"__annotations__": fields})
    import_module("dataclasses").dataclass(kind)
    return kind


# Names of packages on the index, and of what is imported of them.
OTHERS = {"pyzmq": "zmq", "eclipse-zenoh": "zenoh", "cyclonedds": "cyclonedds"}

BATCH = "live-objects, a call per batch"
EACH = "live-objects, a call per message"

ROLES: dict[str, Callable[[str, float, str], None]] = {
    BATCH: lambda *given: ours(*given, each=False),
    EACH: lambda *given: ours(*given, each=True),
    "pyzmq": zmq,
    "eclipse-zenoh": zenoh,
    "cyclonedds": dds,
}


if __name__ == "__main__":
    ROLES[sys.argv[1]](sys.argv[2], float(sys.argv[3]), sys.argv[4])
