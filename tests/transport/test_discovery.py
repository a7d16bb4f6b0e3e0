"""Engines are found by mDNS; what is found is an address, and nothing more is trusted."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.transport.network import loopback, running, until
from transport import mdns
from transport.config import Peer
from transport.discovery import announce_engine, find_peers
from transport.finder import Finder
from transport.peer_book import PeerBook
from transport.scopes import NEARBY, Scope, scope_label

HERE = "127.0.0.1"


def test_announced_engine_is_found_by_its_own_scope_only() -> None:
    async def story() -> None:
        scope = Scope.new_private("Office", os.urandom)
        announcement = await announce_engine(scope, Peer(HERE, 4711))
        try:
            found = await find_peers(scope, HERE, find_s=5, enough=1)
            assert found == (Peer(HERE, 4711),)
            other = Scope.new_private("Office", os.urandom)
            assert await find_peers(other, HERE, find_s=0.3) == ()
        finally:
            await announcement.close()
            await announcement.close()
        assert await find_peers(scope, HERE, find_s=0.3) == ()

    asyncio.run(asyncio.wait_for(story(), 20))


def test_announcement_tells_neither_name_nor_id_of_the_scope() -> None:
    scope = Scope.from_key("Secret project", bytes(32))
    assert scope.scope_id.hex()[:8] not in scope_label(scope)
    assert scope_label(scope) != scope_label(NEARBY)


def test_finder_announces_and_remembers_others_but_not_itself(tmp_path: Path) -> None:
    async def story() -> None:
        config = loopback()
        book = PeerBook(tmp_path / "peers.json")
        async with running(config, config) as engines:
            finders = [Finder(engine, book) for engine in engines]
            for finder in finders:
                finder.start(asyncio.get_running_loop())
            await until(lambda: all(finder.found for finder in finders))
            places = {
                Peer(engine.info().address.text, engine.info().address.port) for engine in engines
            }
            assert {peer for finder in finders for peer in finder.found} == places
            assert all(len(finder.found) == 1 for finder in finders)
            file = tmp_path / "peers.json"
            await until(lambda: set(PeerBook(file).peers(config.scope)) == places)
            engines[0].move()
            finders[0].move()
            moved = Peer(HERE, engines[0].info().address.port)
            await until(lambda: finders[1].found == (moved,))
            await until(lambda: moved in PeerBook(file).peers(config.scope))
            await finders[0].close()
            await until(lambda: finders[1].found == ())
            assert moved in PeerBook(file).peers(config.scope)
            for finder in finders:
                await finder.close()
                await finder.close()
            assert await find_peers(config.scope, HERE, find_s=0.3) == ()

    asyncio.run(asyncio.wait_for(story(), 40))


def test_network_that_refuses_mdns_is_logged_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(1, "Operation not permitted")

    async def story() -> None:
        monkeypatch.setattr(mdns, "AsyncZeroconf", refuse)
        async with running(loopback()) as (engine,):
            finder = Finder(engine, PeerBook(tmp_path / "peers.json"))
            finder.start(asyncio.get_running_loop())
            await until(lambda: bool(caplog.records))
            await finder.close()

    asyncio.run(asyncio.wait_for(story(), 20))
    assert "others are not searched by mDNS" in caplog.text
