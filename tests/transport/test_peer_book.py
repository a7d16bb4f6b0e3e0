"""Where engines were is remembered, bounded, and never a reason to stop."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transport.config import KNOWN_PEERS_MAX, Peer
from transport.peer_book import PeerBook, choose_peers
from transport.scopes import NEARBY, Scope

HERE = "127.0.0.1"

PEERS = st.lists(st.builds(Peer, st.ip_addresses(v=4).map(str), st.integers(1, 65535)), max_size=12)


@given(PEERS, PEERS, PEERS)
def test_first_sources_are_chosen_first_and_none_twice(
    typed: list[Peer], found: list[Peer], remembered: list[Peer]
) -> None:
    chosen = choose_peers(typed, found, remembered)
    assert len(chosen) <= KNOWN_PEERS_MAX
    assert len(set(chosen)) == len(chosen)
    everything = [*typed, *found, *remembered]
    places = [everything.index(peer) for peer in chosen]
    assert places == sorted(places)
    if len(chosen) < KNOWN_PEERS_MAX:
        assert set(chosen) == set(everything)


def test_engine_does_not_choose_itself() -> None:
    me, other = Peer(HERE, 1), Peer(HERE, 2)
    assert choose_peers([me, other], myself=me) == (other,)


def test_book_remembers_the_latest_first_for_each_scope(tmp_path: Path) -> None:
    book = PeerBook(tmp_path / "peers.json")
    office = Scope.from_key("Office", bytes(32))
    assert book.peers(office) == ()
    book.remember(office, [Peer(HERE, 1), Peer(HERE, 2)])
    book.remember(NEARBY, [Peer(HERE, 9)])
    book.remember(office, [Peer(HERE, 3), Peer(HERE, 1)])
    again = PeerBook(tmp_path / "peers.json")
    assert again.peers(office) == (Peer(HERE, 3), Peer(HERE, 1), Peer(HERE, 2))
    assert again.peers(NEARBY) == (Peer(HERE, 9),)
    assert (tmp_path / "peers.json").stat().st_mode & 0o777 == 0o600


def test_book_is_bounded(tmp_path: Path) -> None:
    book = PeerBook(tmp_path / "peers.json")
    scopes = [Scope.from_key(f"Scope {number}", bytes(32)) for number in range(20)]
    for scope in scopes:
        book.remember(scope, [Peer(f"2001:db8::{number:x}", 65535) for number in range(1, 50)])
    again = PeerBook(tmp_path / "peers.json")
    assert len(again.peers(scopes[-1])) == KNOWN_PEERS_MAX
    assert again.peers(scopes[0]) == ()


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "7", '{"a": 7}', '{"a": [["here", 1]]}', '{"a": [["1.2.3.4", 0]]}']
)
def test_unreadable_book_is_begun_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    (tmp_path / "peers.json").write_text(content)
    book = PeerBook(tmp_path / "peers.json")
    assert "begun anew" in caplog.text
    book.remember(NEARBY, [Peer(HERE, 1)])
    assert PeerBook(tmp_path / "peers.json").peers(NEARBY) == (Peer(HERE, 1),)


def test_book_that_cannot_be_written_is_no_reason_to_stop(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    book = PeerBook(tmp_path / "no folder" / "peers.json")
    book.remember(NEARBY, [Peer(HERE, 1)])
    assert book.peers(NEARBY) == (Peer(HERE, 1),)
    assert "not remembered" in caplog.text
