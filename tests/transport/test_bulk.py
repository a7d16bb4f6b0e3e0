"""Bulk transfers: whole and right or not at all, resumed, and closed to those without the key."""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.disk_faults import FAULTS, all_files, refusing
from tests.transport.network import GROUP_ID, KEY, open_descriptors, until
from transport import bulk
from transport.bulk import BulkServer, content_id, fetch
from transport.errors import (
    BadArgument,
    NotFound,
    PeerLost,
    PeerViolation,
    PortInUse,
    SystemRefused,
)
from transport.sealed_stream import FRAME_BYTES_MAX, MAGIC, SealedStream, end

HERE = "127.0.0.1"
Story = Callable[[BulkServer], Awaitable[None]]


def with_server(story: Story, silence_s: float = 5.0) -> None:
    async def run() -> None:
        server = await BulkServer.start(HERE, os.urandom, silence_s=silence_s)
        try:
            await asyncio.wait_for(story(server), 20)
        finally:
            await server.close()

    asyncio.run(run())


def fetching(
    server: BulkServer, name: bytes, destination: Path, key: bytes = KEY, size_max: int = 1 << 30
) -> Awaitable[None]:
    return fetch(
        HERE,
        server.port,
        GROUP_ID,
        key,
        name,
        destination,
        random_bytes=os.urandom,
        size_max=size_max,
        silence_s=5.0,
    )


@pytest.mark.parametrize("size", [0, 1, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 3_000_000])
def test_content_arrives_whole(tmp_path: Path, size: int) -> None:
    source, destination = tmp_path / "source", tmp_path / "destination"
    source.write_bytes(os.urandom(size))

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        assert name == content_id(source.read_bytes())
        progress: list[tuple[int, int]] = []
        await fetch(
            HERE,
            server.port,
            GROUP_ID,
            KEY,
            name,
            destination,
            random_bytes=os.urandom,
            size_max=size,
            progress=lambda done, total: progress.append((done, total)),
        )
        assert destination.read_bytes() == source.read_bytes()
        assert progress[0] == (0, size)
        assert progress[-1] == (size, size)
        assert progress == sorted(progress)

    with_server(story)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["destination", "source"]


class Relay:
    """A network between client and server that breaks or changes what passes."""

    def __init__(self, port: int, spoil: Callable[[bytes, int], bytes | None]) -> None:
        self._port = port
        self._spoil = spoil
        self._tasks: list[asyncio.Task[None]] = []
        self.server: asyncio.Server | None = None
        self.carried = 0

    async def start(self) -> int:
        self.server = await asyncio.start_server(self._connected, HERE, 0)
        port: int = self.server.sockets[0].getsockname()[1]
        return port

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(HERE, self._port)
        self._tasks += [
            asyncio.create_task(self._carry(reader, far_writer, spoil=False)),
            asyncio.create_task(self._carry(far_reader, writer, spoil=True)),
        ]

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, spoil: bool
    ) -> None:
        try:
            while data := await reader.read(5000):
                passed: bytes | None = data
                if spoil:
                    passed = self._spoil(data, self.carried)
                    self.carried += len(data)
                if passed is None:
                    break
                writer.write(passed)
                await writer.drain()
        finally:
            await end(writer, 1.0)

    async def close(self) -> None:
        assert self.server is not None
        self.server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def test_others_have_their_turn_while_a_long_part_is_taken_up(tmp_path: Path) -> None:
    source, destination = tmp_path / "source", tmp_path / "destination"
    source.write_bytes(bytes(40 * FRAME_BYTES_MAX))
    (tmp_path / "destination.part").write_bytes(bytes(39 * FRAME_BYTES_MAX))

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        turns = 0
        task = asyncio.ensure_future(fetching(server, name, destination))
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        await task
        assert turns > 39
        assert destination.read_bytes() == source.read_bytes()

    with_server(story)


def test_lost_connection_is_resumed_where_it_stopped(tmp_path: Path) -> None:
    source, destination = tmp_path / "source", tmp_path / "destination"
    source.write_bytes(os.urandom(1_000_000))

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        relay = Relay(server.port, lambda data, at: data if at < 500_000 else None)
        port = await relay.start()
        call = partial(fetch, HERE, port, GROUP_ID, KEY, name, destination)
        with pytest.raises(PeerLost):
            await call(random_bytes=os.urandom, size_max=1 << 30)
        await relay.close()
        assert not destination.exists()
        kept = (tmp_path / "destination.part").stat().st_size
        assert 300_000 < kept < 1_000_000
        first: list[int] = []
        await fetch(
            HERE,
            server.port,
            GROUP_ID,
            KEY,
            name,
            destination,
            random_bytes=os.urandom,
            size_max=1 << 30,
            progress=lambda done, total: first.append(done),
        )
        assert first[0] == kept
        assert destination.read_bytes() == source.read_bytes()

    with_server(story)


@given(at=st.integers(0, 70_000), flip=st.integers(1, 255))
@settings(max_examples=30)
def test_byte_changed_on_the_way_is_never_accepted(
    tmp_path_factory: pytest.TempPathFactory, at: int, flip: int
) -> None:
    folder = tmp_path_factory.mktemp("bulk")
    source, destination = folder / "source", folder / "destination"
    source.write_bytes(bytes(70_000))

    def spoil(data: bytes, start: int) -> bytes:
        place = at - start
        if 0 <= place < len(data):
            return data[:place] + bytes([data[place] ^ flip]) + data[place + 1 :]
        return data

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        relay = Relay(server.port, spoil)
        port = await relay.start()
        with pytest.raises((PeerViolation, PeerLost)):
            await fetch(
                HERE,
                port,
                GROUP_ID,
                KEY,
                name,
                destination,
                random_bytes=os.urandom,
                size_max=1 << 30,
                silence_s=0.2,
            )
        await relay.close()
        assert not destination.exists()

    with_server(story, silence_s=0.2)


def test_without_the_key_nothing_is_had(tmp_path: Path) -> None:
    source, destination = tmp_path / "source", tmp_path / "destination"
    source.write_bytes(b"secret")

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        with pytest.raises(PeerViolation, match="key"):
            await fetching(server, name, destination, key=b"x" * 32)
        with pytest.raises(PeerLost):
            await fetch(
                HERE,
                server.port,
                b"o" * 16,
                KEY,
                name,
                destination,
                random_bytes=os.urandom,
                size_max=100,
            )

    with_server(story)
    assert not destination.exists()


def test_content_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"content")

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        with pytest.raises(NotFound):
            await fetching(server, bytes(32), tmp_path / "destination")
        source.unlink()
        with pytest.raises(NotFound):
            await fetching(server, name, tmp_path / "destination")
        server.withdraw(GROUP_ID)
        with pytest.raises(PeerLost):
            await fetching(server, name, tmp_path / "destination")

    with_server(story)


def test_too_large_content_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(1000))

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        with pytest.raises(BadArgument, match="1000 bytes"):
            await fetching(server, name, tmp_path / "destination", size_max=999)

    with_server(story)


def test_file_that_changed_since_it_was_offered_is_thrown_away(tmp_path: Path) -> None:
    source, destination = tmp_path / "source", tmp_path / "destination"
    source.write_bytes(b"before")

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        source.write_bytes(b"after!")
        with pytest.raises(PeerViolation, match="not what was asked for"):
            await fetching(server, name, destination)

    with_server(story)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_silent_or_rude_clients_do_not_hold_the_server(tmp_path: Path) -> None:
    async def story(server: BulkServer) -> None:
        before = open_descriptors()
        writers = []
        for hello in (b"", MAGIC, b"GET / HTTP/1.1\r\n\r\n" * 20):
            _, writer = await asyncio.open_connection(HERE, server.port)
            writer.write(hello)
            writers.append(writer)
        await until(lambda: len(server._tasks) > 0)
        await until(lambda: len(server._tasks) == 0)
        for writer in writers:
            writer.close()
        await until(lambda: open_descriptors() == before)

    with_server(story, silence_s=0.1)


def test_more_clients_than_allowed_are_turned_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "CONNECTIONS_MAX", 1)

    async def story(server: BulkServer) -> None:
        _, first = await asyncio.open_connection(HERE, server.port)
        await until(lambda: len(server._tasks) == 1)
        reader, second = await asyncio.open_connection(HERE, server.port)
        assert await reader.read() == b""
        first.close()
        second.close()

    with_server(story)


def test_frame_of_impossible_length_is_refused() -> None:
    async def story(server: BulkServer) -> None:
        server._keys[GROUP_ID] = KEY
        stream = await SealedStream.connect(HERE, server.port, GROUP_ID, KEY, os.urandom)
        stream._writer.write(struct.pack("!I", 1 << 30))
        with pytest.raises(PeerLost):
            await stream.receive()
        await stream.close()

    with_server(story)


def test_nobody_there_and_a_busy_port_are_one_sentence(tmp_path: Path) -> None:
    async def story(server: BulkServer) -> None:
        port = server.port
        with pytest.raises(PortInUse, match=str(port)):
            await BulkServer.start(HERE, os.urandom, port)
        await server.close()
        with pytest.raises(PeerLost, match="does not answer"):
            await fetching_at(port, tmp_path / "destination")

    with_server(story)
    assert list(tmp_path.iterdir()) == []


def fetching_at(port: int, destination: Path) -> Awaitable[None]:
    return fetch(
        HERE, port, GROUP_ID, KEY, bytes(32), destination, random_bytes=os.urandom, size_max=1
    )


def test_destination_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"content")

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        with pytest.raises(SystemRefused, match="cannot be written"):
            await fetching(server, name, tmp_path / "no folder" / "destination")
        with pytest.raises(BadArgument):
            await fetching(server, b"short", tmp_path / "destination")

    with_server(story)


@pytest.mark.parametrize(("call", "code"), FAULTS)
def test_disk_that_refuses_at_the_end_keeps_what_has_come_for_the_next_try(
    tmp_path: Path, call: str, code: int
) -> None:
    source, destination = tmp_path / "source", tmp_path / "destination"
    source.write_bytes(os.urandom(100_000))

    async def story(server: BulkServer) -> None:
        name = server.offer(GROUP_ID, KEY, source)
        with refusing(call, code), pytest.raises(SystemRefused, match="cannot be written"):
            await fetching(server, name, destination)
        assert not destination.exists()
        await fetching(server, name, destination)
        assert destination.read_bytes() == source.read_bytes()
        assert destination.stat().st_mode & 0o777 == 0o600

    with_server(story)
    assert sorted(all_files(tmp_path)) == ["destination", "source"]
