"""The next key of a scope goes to those who are meant, and to nobody else."""

from __future__ import annotations

import os
import random

import pytest

from transport.errors import BadArgument, PeerViolation
from transport.identities import Identity
from transport.scope_renewal import (
    MEMBERS_MAX,
    RENEWAL_BYTES_MAX,
    ScopeMember,
    make_renewal,
    open_renewal,
    read_statement,
    state,
)
from transport.scopes import Scope

OFFICE = Scope.from_key("Office", b"o" * 32)
ADA, JUN, MIA = (Identity(bytes([number]) * 32) for number in range(3))


def stated(*identities: Identity) -> list[ScopeMember]:
    return [state(OFFICE, each, "Somebody") for each in identities]


def test_everybody_meant_gets_the_same_key_and_one_left_out_gets_none() -> None:
    renewed, data = make_renewal(OFFICE, ADA, stated(JUN), os.urandom)
    assert (renewed.scope_id, renewed.generation) == (OFFICE.scope_id, 1)
    assert renewed.key != OFFICE.key
    for member in (ADA, JUN):
        renewal = open_renewal(OFFICE, member, data)
        assert (renewal.scope, renewal.author) == (renewed, ADA.public)
    left_out = open_renewal(OFFICE, MIA, data)
    assert left_out.scope is None
    assert left_out.members == {ADA.public, JUN.public}
    assert renewed.key not in data
    # The next one is under the next key.
    again, second = make_renewal(renewed, JUN, stated(ADA), os.urandom)
    assert open_renewal(renewed, ADA, second).scope == again
    with pytest.raises(PeerViolation):
        open_renewal(OFFICE, ADA, second)


def test_renewals_that_were_changed_or_are_of_another_scope_are_refused() -> None:
    _, data = make_renewal(OFFICE, ADA, stated(JUN), os.urandom)
    chance = random.Random(1)
    for _ in range(200):
        changed = bytearray(data)
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        with pytest.raises(PeerViolation):
            open_renewal(OFFICE, JUN, bytes(changed))
    for rubbish in (b"", b"x" * 30, data[:-1], data + b"x"):
        with pytest.raises(PeerViolation):
            open_renewal(OFFICE, JUN, rubbish)
    with pytest.raises(PeerViolation):
        open_renewal(Scope.from_key("Other", b"o" * 32), JUN, data)


def test_as_many_as_fit_a_message_and_no_more() -> None:
    many = [
        ScopeMember(Identity(number.to_bytes(32, "big")).public, "x", 0, b"")
        for number in range(1, MEMBERS_MAX + 1)
    ]
    _, data = make_renewal(OFFICE, Identity((1).to_bytes(32, "big")), many, os.urandom)
    assert len(data) <= RENEWAL_BYTES_MAX
    with pytest.raises(BadArgument, match="at most"):
        make_renewal(OFFICE, ADA, many, os.urandom)


def test_a_statement_is_its_makers_own() -> None:
    mine = state(OFFICE, ADA, "Ada \u200b")
    assert (mine.name, mine.fingerprint) == ("Ada ", ADA.fingerprint)
    assert read_statement(OFFICE, mine.pack()) == mine
    public, name, generation, signature = mine.pack()
    for packed in (
        [public, "Jun", generation, signature],
        [JUN.public, name, generation, signature],
        [public, name, 1, signature],
        [public, name, -1, signature],
        [public, "", generation, signature],
        [public, name, generation, b""],
        [public[:-1], name, generation, signature],
        [public, name, generation],
        "rubbish",
        None,
    ):
        with pytest.raises(PeerViolation):
            read_statement(OFFICE, packed)
    with pytest.raises(PeerViolation):
        read_statement(Scope.from_key("Other", b"o" * 32), mine.pack())


def test_an_invitation_to_a_renewed_scope_reads_back_and_mistakes_are_noticed() -> None:
    renewed, _ = make_renewal(OFFICE, ADA, [], os.urandom)
    text = renewed.invitation()
    assert text.startswith("live-objects-scope:2:Office:1:")
    assert Scope.from_invitation(text) == renewed
    for wrong in (text[:-1], text.replace(":1:", ":2:"), text.replace(":1:", ":x:"), text[:30]):
        with pytest.raises(BadArgument):
            Scope.from_invitation(wrong)
    with pytest.raises(BadArgument):
        Scope("Office", OFFICE.scope_id, OFFICE.key, -1)
