"""A configuration is checked when it is made, with a sentence that says what is wrong."""

from __future__ import annotations

import contextlib
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from native import ffi, lib
from transport import binding
from transport.config import EngineConfig, Faults, Peer, Tuning
from transport.errors import BadArgument
from transport.policies import Policy
from transport.scopes import NEARBY, Scope


@given(st.ip_addresses(), st.integers(1, 65535))
def test_written_peer_is_read_back(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int
) -> None:
    text = f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"
    peer = Peer.parse(text)
    assert ipaddress.ip_address(peer.address) == address
    assert peer.port == port
    assert peer.packed == address.packed


@pytest.mark.parametrize(
    "text", ["", "here", "1.2.3.4", "1.2.3.4:", "1.2.3:80", "1.2.3.4:0", "1.2.3.4:65536", ":80"]
)
def test_malformed_peer_is_refused(text: str) -> None:
    with pytest.raises(BadArgument):
        Peer.parse(text)


@given(st.text())
def test_no_text_makes_the_peer_parser_fail_otherwise(text: str) -> None:
    with contextlib.suppress(BadArgument):
        assert isinstance(Peer.parse(text), Peer)


@pytest.mark.parametrize("port", [-1, 65536])
def test_port_out_of_range_is_refused(port: int) -> None:
    with pytest.raises(BadArgument, match="port"):
        EngineConfig(port=port)
    with pytest.raises(BadArgument, match="port"):
        EngineConfig(multicast_port=port)


def test_too_long_or_odd_texts_are_refused() -> None:
    with pytest.raises(BadArgument, match="interface"):
        EngineConfig(interface="e" * 64)
    with pytest.raises(BadArgument, match="multicast group"):
        EngineConfig(multicast_group="\0")


def test_too_many_peers_are_refused() -> None:
    with pytest.raises(BadArgument, match="peers"):
        EngineConfig(known_peers=(Peer("127.0.0.1", 1),) * 9)


def test_faults_are_per_mille() -> None:
    with pytest.raises(BadArgument):
        Faults(drop_in_per_mille=1001)


def test_every_field_of_tuning_reaches_the_engine() -> None:
    tuning = Tuning(
        datagram_bytes_max=1000,
        window_bytes_max=1001,
        receive_bytes_max=1002,
        rate_bytes_per_s_max=1003,
        ring_size_max=4,
        policy=Policy["HIERARCHY"],
        similar_percent=51,
        region_size_min=6,
        hybrid_regions_min=7,
        coupled_tokens=True,
        cache_everywhere=True,
        heartbeat_s=0.25,
        failure_s=2.5,
        batch_s=0.125,
        token_s=0.5,
        lag_s_max=9.0,
    )
    assert None not in [getattr(tuning, name) for name in Tuning.__dataclass_fields__]
    target: binding.CData = ffi.new("qsm_config *")
    binding.fill_core(target, EngineConfig(tuning=tuning, may_host=False))
    assert target.datagram_bytes_max == 1000
    assert target.window_bytes_max == 1001
    assert target.receive_bytes_max == 1002
    assert target.rate_bytes_per_s_max == 1003
    assert (target.ring_size_max, target.policy) == (4, lib.QSM_POLICY_HIERARCHY)
    assert (target.similar_percent, target.region_size_min) == (51, 6)
    assert (target.hybrid_regions_min, target.coupled_tokens, target.cache_everywhere) == (7, 1, 1)
    assert (target.heartbeat_ns, target.failure_ns) == (250_000_000, 2_500_000_000)
    assert (target.batch_ns, target.token_ns) == (125_000_000, 500_000_000)
    assert (target.lag_ns_max, target.may_host) == (9_000_000_000, 0)


def test_tuning_that_does_not_fit_its_field_is_refused() -> None:
    target: binding.CData = ffi.new("qsm_config *")
    with pytest.raises(BadArgument, match="ring_size_max"):
        binding.fill_core(target, EngineConfig(tuning=Tuning(ring_size_max=2**32)))


def test_scope_and_peers_reach_the_engine() -> None:
    target: binding.CData = ffi.new("qsm_config *")
    peers = (Peer("10.0.0.7", 4000), Peer("fd00::1", 4001))
    binding.fill_core(target, EngineConfig(known_peers=peers))
    assert bytes(ffi.buffer(target.scope_id)) == NEARBY.scope_id
    assert bytes(ffi.buffer(target.scope_key)) == NEARBY.key
    assert target.known_peer_count == 2
    first, second = target.known_peers[0], target.known_peers[1]
    assert (first.family, first.port) == (lib.QSM_FAMILY_IPV4, 4000)
    assert bytes(ffi.buffer(first.bytes)) == bytes([10, 0, 0, 7]) + bytes(12)
    assert (second.family, second.port) == (lib.QSM_FAMILY_IPV6, 4001)
    assert bytes(ffi.buffer(second.bytes)) == ipaddress.ip_address("fd00::1").packed


def test_scope_never_shows_its_key() -> None:
    assert NEARBY.key.hex() not in repr(EngineConfig())
    assert repr(NEARBY.key) not in repr(EngineConfig())


def test_scopes_with_another_name_or_key_are_other_scopes() -> None:
    one = Scope.from_key("Office", bytes(32))
    assert one.scope_id != Scope.from_key("office", bytes(32)).scope_id
    assert one.scope_id != Scope.from_key("Office", bytes(31) + b"\1").scope_id
    assert one == Scope.from_key("Office", bytes(32))


@pytest.mark.parametrize(
    ("name", "scope_id", "key"),
    [
        ("", bytes(16), bytes(32)),
        ("x" * 65, bytes(16), bytes(32)),
        ("a\nb", bytes(16), bytes(32)),
        ("a", bytes(15), bytes(32)),
        ("a", bytes(16), bytes(31)),
    ],
)
def test_malformed_scope_is_refused(name: str, scope_id: bytes, key: bytes) -> None:
    with pytest.raises(BadArgument):
        Scope(name, scope_id, key)


def test_nearby_is_the_same_in_every_version() -> None:
    assert NEARBY.scope_id.hex() == "6283e862b02efc2b39b63d476a46e35d"
