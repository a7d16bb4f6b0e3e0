"""Who was away asks those who were not, over real connections, and is among them again."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.transport.network import KEY, Recorder, in_one_view, loopback, until
from transport.config import Peer
from transport.engine import Engine
from transport.identities import Identity
from transport.loop import AsyncioWatcher, EngineJoin
from transport.renewal_exchange import RenewalExchange
from transport.scope_keeper import ScopeKeeper
from transport.scope_records import ScopeRecords
from transport.scopes import Scope, scope_label

OFFICE = Scope.from_key("Office", b"q" * 32)


class Place:
    """A member on sockets."""

    def __init__(self, folder: Path, number: int, scope: Scope) -> None:
        self.identity = Identity(bytes([number]) * 32)
        self.engine = Engine.open(loopback(scope=scope))
        watcher = AsyncioWatcher()
        EngineJoin(self.engine, watcher)
        loop = asyncio.get_running_loop()
        self.records = ScopeRecords(folder / str(number), scope)
        self.keeper = ScopeKeeper(
            self.engine,
            scope,
            self.identity,
            self.records,
            watcher.call_at,
            loop.time,
            lambda: f"Number {number}",
        )
        address = self.engine.info().address
        self.peer = Peer(address.text, address.port)
        self.exchange = RenewalExchange(self.keeper, self.peer)
        self.exchange.start(loop, [])
        self.work = Recorder(self.engine.join(b"an object's id..", KEY))

    async def close(self) -> None:
        await self.exchange.close()
        self.keeper.close()
        await self.engine.close()


def run(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 60))


def test_who_was_away_asks_and_is_among_them_again(tmp_path: Path) -> None:
    async def story() -> None:
        ada = Place(tmp_path, 1, OFFICE)
        await ada.engine.ready()
        jun = Place(tmp_path, 2, OFFICE)
        await until(lambda: len(ada.keeper.members) == 2 == len(jun.keeper.members))
        await jun.close()
        await until(in_one_view([ada.work]))
        renewed = ada.keeper.renew()
        await until(lambda: ada.keeper.scope == renewed)
        back = Place(tmp_path, 2, OFFICE)
        told: list[Scope] = []
        back.keeper.on_scope = told.append
        await back.engine.ready()
        back.exchange.meet([ada.peer, back.peer])
        await until(lambda: told == [renewed])
        await until(in_one_view([ada.work, back.work]), 40)
        # One whose program ended before its new key was on disk finds it in its records.
        await back.close()
        again = Place(tmp_path, 2, OFFICE)
        await until(lambda: again.keeper.scope == renewed)
        for place in (again, ada):
            await place.close()

    run(story)


def test_questions_that_make_no_sense_are_not_answered(tmp_path: Path) -> None:
    async def asks(peer: Peer, question: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(peer.address, peer.port)
        writer.write(question)
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        return answer

    async def story() -> None:
        ada = Place(tmp_path, 1, OFFICE)
        await ada.engine.ready()
        label = scope_label(OFFICE).encode()
        await until(lambda: ada.exchange._server is not None)
        assert await asks(ada.peer, b"LOR1" + label + struct.pack("!I", 0)) == b"\0"
        assert await asks(ada.peer, b"LOR1" + label + struct.pack("!I", 2**32 - 1)) == b"\0"
        assert await asks(ada.peer, b"LOR1" + b"x" * 16 + struct.pack("!I", 0)) == b""
        assert await asks(ada.peer, b"XXXX" + label + struct.pack("!I", 0)) == b""
        assert await asks(ada.peer, b"LO") == b""
        moved = Peer("127.0.0.2", ada.peer.port)
        ada.exchange.move(moved)
        await until(lambda: ada.exchange._server is not None)
        assert await asks(moved, b"LOR1" + label + struct.pack("!I", 0)) == b"\0"
        with pytest.raises(ConnectionRefusedError):
            await asks(ada.peer, b"LO")
        await ada.close()

    run(story)


def test_answers_that_make_no_sense_change_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        ada = Place(tmp_path, 1, OFFICE)
        answers = [b"", b"\x01", b"\xff" * 8, b"\x01\xff\xff\xff\xff", b"\x01\0\0\0\3abc"]
        for answer in answers:

            async def tell(
                reader: asyncio.StreamReader,
                writer: asyncio.StreamWriter,
                answer: bytes = answer,
            ) -> None:
                await reader.read(24)
                writer.write(answer)
                writer.close()

            server = await asyncio.start_server(tell, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            await ada.exchange._ask(Peer("127.0.0.1", port))
            server.close()
        assert ada.keeper.scope == OFFICE
        await ada.close()

    run(story)
