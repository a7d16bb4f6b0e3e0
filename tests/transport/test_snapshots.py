"""What `live-objects net` shows: snapshots that survive JSON, rates, and a table to be read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transport.network import GROUP_ID, loopback, simulated_members
from transport.config import Peer
from transport.engine import Engine
from transport.engine_check import check_engine
from transport.errors import BadArgument
from transport.findings import Verdict
from transport.simulation import Simulation
from transport.snapshot_table import as_table, columns, in_bytes, in_time
from transport.snapshots import (
    GroupState,
    Known,
    RegionState,
    Snapshot,
    as_json,
    from_json,
    rates,
    take_snapshot,
)

REGION = RegionState(
    region="00000000000000aa",
    address="239.195.1.2",
    members=4,
    alive=3,
    senders=2,
    ring_levels=1,
    unacknowledged_packets=7,
    rate_bytes_per_s=12_500_000,
    acknowledgement_s=0.0123,
    token_round_s=0.0,
    here=True,
    closing=False,
    unicast=False,
)
SNAPSHOT = Snapshot(
    taken_s=10.0,
    node="0000000000000001",
    scope="Office",
    health="host",
    interface="eth0",
    address="10.0.0.7:4000",
    multicast="239.195.1.1:47474",
    groups=(
        GroupState("ff" * 16, "Lunch", 4, ("0000000000000001", "0000000000000002"), 5),
        GroupState("0e" * 16, "", 0, (), 0),
    ),
    regions=(REGION, replace(REGION, region="00000000000000ab", unicast=True, closing=True)),
    people={"0000000000000001": "Ada", "0000000000000002": "Jun"},
    announced=("10.0.0.8:4000",),
    prefers_unicast=False,
    unheard=(),
    missed="",
    missed_rests_s=0.0,
    interface_bytes=1500,
    short_paths=(),
    counters={"messages_delivered": 100, "data_received": 90, "packets_lost": 10},
)


def test_table_is_what_a_person_reads() -> None:
    later = replace(
        SNAPSHOT,
        taken_s=12.0,
        counters={
            "messages_delivered": 2100,
            "messages_sent": 10,
            "data_received": 270,
            "packets_lost": 30,
            "bytes_received": 2_000_000,
        },
    )
    assert as_table(later, SNAPSHOT) == (
        "scope Office   node 0000000000000001   host\n"
        "eth0 10.0.0.7:4000   multicast 239.195.1.1:47474\n"
        "2 nodes, 2 groups, 2 regions\n"
        "announced: 10.0.0.8:4000\n"
        "in 1,000 messages/s, 1.0 MB/s   out 5 messages/s, 0 B/s   lost 10.00%   tokens 0.0/s\n"
        "\n"
        "who                     node  groups\n"
        "Ada (here)  0000000000000001       1\n"
        "Jun         0000000000000002       1\n"
        "\n"
        "group                                    view  members  unacknowledged\n"
        "0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e            0        0               0\n"
        "ffffffffffffffffffffffffffffffff  Lunch     4        2               5\n"
        "\n"
        "region                    alive  senders  levels       rate  acknowledged  token"
        "      sent by\n"
        "00000000000000aa            3/4        2       1  12.5 MB/s       12.3 ms      -"
        "  239.195.1.2\n"
        "00000000000000ab closing    3/4        2       1  12.5 MB/s       12.3 ms      -"
        "      unicast\n"
        "\n"
        "trouble       count\n"
        "packets_lost     30\n"
    )


def test_those_without_a_name_come_last_and_names_draw_nothing() -> None:
    members = ("0000000000000001", "0000000000000002", "0000000000000003")
    groups = (GroupState("ff" * 16, "Lu\x1b[2Jnch", 4, members, 0),)
    people = {"0000000000000003": "J\x1bun\n"}
    table = as_table(replace(SNAPSHOT, groups=groups, people=people))
    assert "\x1b" not in table
    assert [line.split()[0] for line in table.splitlines()[5:9]] == ["who", "(here)", "J", "-"]


def test_a_program_adds_what_it_knows_to_its_engine() -> None:
    with Simulation() as simulation:
        nodes, _ = simulated_members(simulation, 2)
        known = Known({nodes[1].node: "Jun"}, {GROUP_ID: "Lunch"}, [Peer("10.0.0.8", 4000)])
        snapshot = take_snapshot(nodes[0], "Test", 0.0, known)
        assert snapshot.people == {f"{nodes[1].node:016x}": "Jun"}
        assert snapshot.groups[0].title == "Lunch"
        assert snapshot.announced == ("10.0.0.8:4000",)
        assert snapshot.shared_with(f"{nodes[1].node:016x}") == 1


def test_snapshot_survives_json() -> None:
    assert from_json(json.loads(json.dumps(as_json(SNAPSHOT)))) == SNAPSHOT
    deaf = replace(SNAPSHOT, unheard=("10.0.0.8:4000",))
    assert from_json(json.loads(json.dumps(as_json(deaf)))) == deaf


def test_table_names_those_whose_multicast_is_not_heard() -> None:
    places = tuple(f"10.0.0.{number}:4000" for number in range(8))
    assert "multicast not heard of 10.0.0.0:4000\n" in as_table(
        replace(SNAPSHOT, unheard=places[:1])
    )
    many = as_table(replace(SNAPSHOT, unheard=places))
    assert "10.0.0.4:4000, 10.0.0.5:4000 and 2 more\n" in many


def test_the_address_that_is_not_heard_is_told_and_when_it_is_tried_again() -> None:
    table = as_table(replace(SNAPSHOT, missed="239.192.1.2", missed_rests_s=42.0))
    assert "multicast to 239.192.1.2 not heard, tried again in 42.00 s\n" in table
    with Simulation() as simulation:
        first, second = simulation.add_nodes(2)
        groups = [node.join(bytes(16), bytes(32)) for node in (first, second)]
        assert simulation.run_until(
            lambda: all(g.view and len(g.view.members) == 2 for g in groups)
        )
        simulation.block_regions(second)

        def talk() -> None:
            groups[0].send(b"heard by repairs alone")
            simulation.call_later(0.2, talk)

        talk()
        assert simulation.run_until(lambda: bool(take_snapshot(second, "Test", 0).missed))
        assert simulation.run_until(lambda: bool(take_snapshot(first, "Test", 0).by_unicast))
        assert take_snapshot(first, "Test", 0).missed == ""
        deaf = take_snapshot(second, "Test", 0)
        assert deaf.unheard == ()
        assert deaf.missed.startswith("simulated ")
        assert 50 < deaf.missed_rests_s <= 60
        assert simulation.run_until(lambda: not take_snapshot(first, "Test", 0).by_unicast, 90)
        assert take_snapshot(second, "Test", 0).missed == ""


def test_who_is_on_wireless_has_small_regions_go_by_unicast_and_says_so() -> None:
    with Simulation() as simulation:
        first, second = simulation.add_nodes(2)
        groups = [node.join(bytes(16), bytes(32)) for node in (first, second)]
        assert simulation.run_until(
            lambda: all(g.view and len(g.view.members) == 2 for g in groups)
        )
        assert not take_snapshot(second, "Test", 0).by_unicast
        second.prefer_unicast(True)
        assert simulation.run_until(lambda: bool(take_snapshot(first, "Test", 0).by_unicast))
        told = take_snapshot(second, "Test", 0)
        assert told.prefers_unicast
        assert from_json(json.loads(json.dumps(as_json(told)))) == told
        (finding,) = [
            found
            for found in check_engine(replace(told, multicast="239.1.1.1:1"), 1)
            if found.subject == "unicast"
        ]
        assert finding.verdict is Verdict.GOOD
        assert "Wi-Fi" in finding.sentence
        second.prefer_unicast(False)
        assert simulation.run_until(lambda: not take_snapshot(first, "Test", 0).by_unicast)


def test_a_snapshot_says_which_regions_fell_back() -> None:
    fallen = replace(REGION, unicast=True)
    others = (
        REGION,
        replace(fallen, closing=True),
        replace(fallen, alive=1),
        replace(fallen, here=False),
    )
    assert replace(SNAPSHOT, regions=(*others, fallen)).by_unicast == (fallen,)
    with Simulation() as simulation:
        first, second = simulation.add_nodes(2)
        groups = [node.join(bytes(16), bytes(32)) for node in (first, second)]
        assert simulation.run_until(
            lambda: all(g.view and len(g.view.members) == 2 for g in groups)
        )
        simulation.block_multicast(first, second)
        assert simulation.run_until(lambda: bool(take_snapshot(first, "Test", 0).by_unicast))
        assert take_snapshot(first, "Test", 0).unheard == ()
        assert take_snapshot(second, "Test", 0).unheard == ("simulated 0:0",)
        simulation.block_multicast(first, second, False)
        assert simulation.run_until(lambda: not take_snapshot(first, "Test", 0).by_unicast)
        assert take_snapshot(second, "Test", 0).unheard == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {**as_json(SNAPSHOT), "extra": 1},
        {**as_json(SNAPSHOT), "groups": [{"group": "00"}]},
        {**as_json(SNAPSHOT), "groups": 7},
        {**as_json(SNAPSHOT), "regions": [7]},
        {name: value for name, value in as_json(SNAPSHOT).items() if name != "node"},
    ],
)
def test_what_is_no_snapshot_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadArgument):
        from_json(wrong)


def test_rates_of_one_moment_or_of_another_node_are_zero() -> None:
    assert rates(SNAPSHOT, SNAPSHOT).messages_in == 0
    other = replace(SNAPSHOT, node="0000000000000002", taken_s=20.0, counters={"bytes_sent": 9})
    assert rates(SNAPSHOT, other).bytes_out == 0


def test_snapshot_of_simulated_nodes_names_everybody() -> None:
    with Simulation(seed=1) as simulation:
        nodes, recorders = simulated_members(simulation, 3)
        before = take_snapshot(nodes[0], "Simulated", simulation.time())
        assert before.nodes == tuple(sorted(f"{node.node:016x}" for node in nodes))
        assert before.groups[0].group == GROUP_ID.hex()
        for number in range(100):
            recorders[1].send(b"%d" % number)
        simulation.run_for(1)
        after = take_snapshot(nodes[0], "Simulated", simulation.time())
        assert rates(before, after).messages_in == pytest.approx(100, rel=0.01)
        assert "simulated" in as_table(after, before)
        assert from_json(json.loads(json.dumps(as_json(after)))) == after


def test_snapshot_of_an_engine_tells_where_it_is() -> None:
    engine = Engine.open(loopback())
    try:
        snapshot = take_snapshot(engine, engine.config.scope.name, 0.0)
    finally:
        engine.destroy()
    assert snapshot.interface == "lo"
    assert snapshot.address.startswith("127.0.0.1:")
    assert "udp_kernel_drops" in snapshot.counters
    assert "scope Test" in as_table(snapshot)


@given(st.lists(st.lists(st.text("ab ", max_size=9), min_size=3, max_size=3)))
def test_columns_line_up(rows: list[list[str]]) -> None:
    lines = columns(["one", "two", "three"], rows).split("\n")
    assert len(lines) == len(rows) + 1
    assert (
        max(map(len, lines))
        <= sum(max(map(len, column)) for column in zip(["one", "two", "three"], *rows, strict=True))
        + 4
    )


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (2_500_000, "2.5 MB"), (3e12, "3000.0 GB")],
)
def test_bytes_have_a_unit(amount: float, text: str) -> None:
    assert in_bytes(amount) == text


@pytest.mark.parametrize(("seconds", "text"), [(0, "-"), (0.0015, "1.5 ms"), (2.5, "2.50 s")])
def test_times_have_a_unit(seconds: float, text: str) -> None:
    assert in_time(seconds) == text
