"""Two people compare a code and one lets the other into a scope; whoever stands between is seen."""

from __future__ import annotations

import asyncio
import os
import random
import re
import struct
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transport.network import until
from transport import pairing_stream
from transport.config import Peer
from transport.errors import Closed, Declined, PeerLost, PeerViolation, TransportError
from transport.invitations import announce_invitation, find_invitations
from transport.pairing import KEY_BYTES, MAGIC, Asking, Inviting, Session, read_name
from transport.pairing_stream import Invitation, Meeting, ask
from transport.scopes import Scope

HERE = "127.0.0.1"
OFFICE = Scope.from_key("Office", bytes(range(32)))


def run(story: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(story(), 30))  # type: ignore[arg-type]


async def meet(invitation: Invitation, name: str = "Jun") -> tuple[Meeting, Meeting]:
    """The inviter's meeting and that of the one who asks."""
    asking = asyncio.create_task(ask(invitation.peer, name))
    return await invitation.meet(), await asking


# Between two honest people


def test_both_see_the_same_code_and_the_scope_arrives() -> None:
    async def story() -> None:
        invitation = await Invitation.open(OFFICE, "Ada", HERE)
        for name in ("Jun", "Mia", "Bo", "Eva", "Tim"):  # Successes do not use it up.
            member, newcomer = await meet(invitation, name)
            assert member.code == newcomer.code
            assert re.fullmatch(r"\d{3} \d{3}", member.code)
            assert (member.their_name, newcomer.their_name) == (name, "Ada")
            assert newcomer.scope_name == "Office"
            _, scope = await asyncio.gather(member.give(OFFICE), newcomer.take())
            assert scope == OFFICE
        invitation.close()
        invitation.close()
        with pytest.raises(Closed):
            await invitation.meet()
        with pytest.raises(PeerLost):
            await ask(Peer(HERE, 1), "Jun")

    run(story)


def test_codes_of_two_meetings_differ() -> None:
    async def story() -> None:
        codes = set()
        for _ in range(10):
            invitation = await Invitation.open(OFFICE, "Ada", HERE)
            member, newcomer = await meet(invitation)
            codes.add(member.code)
            await newcomer.refuse()
            await member.refuse()
            invitation.close()
        assert len(codes) >= 9

    run(story)


@pytest.mark.parametrize("who", ["member", "newcomer"])
def test_refusal_of_either_is_told_and_no_key_leaves(who: str) -> None:
    async def story() -> None:
        invitation = await Invitation.open(OFFICE, "Ada", HERE)
        member, newcomer = await meet(invitation)
        if who == "member":
            await member.refuse()
            with pytest.raises(Declined):
                await newcomer.take()
        else:
            await newcomer.refuse()
            with pytest.raises(Declined):
                await member.give(OFFICE)
        invitation.close()

    run(story)


def test_one_that_answers_too_late_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing_stream, "COMPARE_S", 0.2)

    async def story() -> None:
        invitation = await Invitation.open(OFFICE, "Ada", HERE)
        member, newcomer = await meet(invitation)
        with pytest.raises(PeerLost):
            await member.give(OFFICE)  # The other person went to lunch.
        with pytest.raises(TransportError):
            await newcomer.take()
        invitation.close()

    run(story)


def test_invitation_ends_after_some_meetings_in_vain_and_serves_one_at_a_time() -> None:
    async def story() -> None:
        invitation = await Invitation.open(OFFICE, "Ada", HERE)
        peer = invitation.peer
        for _ in range(pairing_stream.MEETINGS_MAX):
            member, newcomer = await meet(invitation)
            with pytest.raises(PeerLost):
                await ask(peer, "Somebody else")
            await newcomer.refuse()
            await member.refuse()
        with pytest.raises(Closed):
            await invitation.meet()
        with pytest.raises(PeerLost):
            await ask(peer, "Jun")

    run(story)


def test_invitation_is_found_by_mdns_under_its_makers_name() -> None:
    async def story() -> None:
        # Others may invite on this computer, too: by another name, or at another place.
        name = f"Ada {os.urandom(4).hex()}"
        invitations = [await Invitation.open(OFFICE, each, HERE) for each in ("Eve", name)]
        announcements = [
            await announce_invitation(each, invitation.peer)
            for each, invitation in zip(("Eve", name), invitations, strict=True)
        ]
        try:
            (found,) = await find_invitations(HERE, name=name, find_s=5, enough=1)
            assert (found.name, found.peer) == (name, invitations[1].peer)
            everybody = await find_invitations(HERE, find_s=2)
            assert {each.peer for each in everybody} >= {each.peer for each in invitations}
        finally:
            for announcement in announcements:
                await announcement.close()
            for invitation in invitations:
                invitation.close()

    run(story)


# Somebody between


async def in_between(inviting: Peer, met: list[Meeting]) -> asyncio.Server:
    """A man in the middle: completes the protocol with either side under keys of his own, and
    passes on what the honest ones say of themselves. `met` gets his meetings with both."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        towards_newcomer = pairing_stream._Frames(reader, writer)
        side = Inviting(os.urandom)
        name = side.hear_hello(await towards_newcomer.receive(5))
        towards_member = await ask(inviting, name)
        await towards_newcomer.send(side.commit("Ada", "Office"), 5)
        key = side.hear_key(await towards_newcomer.receive(5))
        message, session = side.reveal(key)
        await towards_newcomer.send(message, 5)
        met.extend([Meeting(towards_newcomer, session, name, "Office"), towards_member])

    return await asyncio.start_server(connected, HERE, 0)


def test_one_who_stands_between_shows_itself_by_two_codes_and_gets_nothing() -> None:
    async def story() -> None:
        met: list[Meeting] = []
        invitation = await Invitation.open(OFFICE, "Ada", HERE)
        middle = await in_between(invitation.peer, met)
        asking = asyncio.create_task(ask(Peer(HERE, middle.sockets[0].getsockname()[1]), "Jun"))
        member, newcomer = await invitation.meet(), await asking
        await until(lambda: len(met) == 2)
        # What he sees of either side is what that person sees; but the two differ.
        assert [meeting.code for meeting in met] == [newcomer.code, member.code]
        assert newcomer.code != member.code
        his_try = asyncio.create_task(met[1].take())
        await member.refuse()
        with pytest.raises(Declined):
            await his_try
        for meeting in (newcomer, met[0]):
            await meeting.refuse()
        middle.close()
        invitation.close()

    run(story)


def test_relaying_alone_gives_nothing_away() -> None:
    """One who only passes on and listens sees the same code, and cannot open what is sealed."""
    randomness = random.Random(1)
    inviting, asking = Inviting(randomness.randbytes), Asking(randomness.randbytes)
    inviting.hear_hello(asking.hello("Jun"))
    commitment, name, scope_name = asking.hear_commit(inviting.commit("Ada", "Office"))
    message, here = inviting.reveal(inviting.hear_key(asking.key()))
    there = asking.hear_reveal(message, commitment)
    assert (here.code, name, scope_name) == (there.code, "Ada", "Office")
    sealed = here.seal(b"the key")
    assert b"the key" not in sealed
    listener = Session(bytes(32), bytes(64), inviting=False)
    with pytest.raises(PeerViolation):
        listener.open(sealed)
    assert there.open(sealed) == b"the key"
    with pytest.raises(PeerViolation):
        there.open(sealed)  # A frame that is played again.


def test_key_other_than_the_one_committed_to_is_noticed() -> None:
    """Without the commitment, a man in the middle would try keys until the codes are equal."""
    honest, cheat, asking = Inviting(os.urandom), Inviting(os.urandom), Asking(os.urandom)
    asking.hello("Jun")
    commitment, _, _ = asking.hear_commit(honest.commit("Ada", "Office"))
    asking.key()
    with pytest.raises(PeerViolation, match="changed its key"):
        asking.hear_reveal(cheat.public, commitment)


@pytest.mark.parametrize("part", ["hello", "commit", "key"])
def test_any_difference_in_what_was_said_changes_the_code(part: str) -> None:
    randomness = random.Random(2)
    inviting, asking = Inviting(randomness.randbytes), Asking(randomness.randbytes)
    hello = asking.hello("Jun")
    inviting.hear_hello(MAGIC + b"Bad" if part == "hello" else hello)
    commit = inviting.commit("Ada", "Office")
    changed = commit.replace(b"Office", b"0ffice") if part == "commit" else commit
    commitment, _, _ = asking.hear_commit(changed)
    key = asking.key()
    message, here = inviting.reveal(
        inviting.hear_key(Asking(os.urandom).public if part == "key" else key)
    )
    assert here.code != asking.hear_reveal(message, commitment).code


@pytest.mark.parametrize(
    "low_order", [bytes(32), b"\1" + bytes(31), b"\xec" + b"\xff" * 30 + b"\x7f"]
)
def test_keys_that_make_a_known_secret_are_refused(low_order: bytes) -> None:
    inviting = Inviting(os.urandom)
    with pytest.raises(PeerViolation):
        inviting.reveal(inviting.hear_key(low_order))


# Rubbish


def framed(data: bytes) -> bytes:
    return struct.pack("!H", len(data)) + data


@pytest.mark.parametrize(
    "rubbish",
    [
        b"GET / HTTP/1.0\r\n\r\n",
        b"\0\0",
        b"\xff\xff" + bytes(2000),
        framed(b"live-objects pairing 2\nJun"),
        framed(MAGIC),
        framed(MAGIC + b"\xff\xfe"),
        framed(MAGIC + b"a\nb"),
        framed(MAGIC + b"Jun") + framed(b"short"),
        framed(MAGIC + b"Jun") + framed(bytes(32)),
        b"",
    ],
)
def test_rubbish_is_dropped_and_the_invitation_goes_on(rubbish: bytes) -> None:
    async def story() -> None:
        invitation = await Invitation.open(OFFICE, "Ada", HERE)
        reader, writer = await asyncio.open_connection(HERE, invitation.peer.port)
        writer.write(rubbish)
        writer.write_eof()
        await reader.read()
        writer.close()
        member, newcomer = await meet(invitation)
        _, scope = await asyncio.gather(member.give(OFFICE), newcomer.take())
        assert scope == OFFICE
        invitation.close()

    run(story)


def test_silent_stranger_blocks_nobody_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing_stream, "HANDSHAKE_S", 0.2)

    async def story() -> None:
        invitation = await Invitation.open(OFFICE, "Ada", HERE)
        _, silent = await asyncio.open_connection(HERE, invitation.peer.port)
        with pytest.raises(PeerLost):
            await ask(invitation.peer, "Jun")
        await asyncio.sleep(0.4)
        member, newcomer = await meet(invitation)
        assert member.code == newcomer.code
        await member.refuse()
        await newcomer.refuse()
        silent.close()
        invitation.close()

    run(story)


@pytest.mark.parametrize("sent", [b"Snonsense", b"Slive-objects-scope:1:x:y", b"X", b""])
def test_something_else_than_a_scope_is_refused(sent: bytes) -> None:
    async def story() -> None:
        invitation = await Invitation.open(OFFICE, "Ada", HERE)
        member, newcomer = await meet(invitation)
        taking = asyncio.create_task(newcomer.take())
        await member._say(b"A")
        await member._say(sent)
        with pytest.raises(PeerViolation):
            await taking
        await member.refuse()
        invitation.close()

    run(story)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_no_message_makes_either_side_fail_otherwise(message: bytes) -> None:
    hearers: list[Callable[[bytes], object]] = [
        Inviting(os.urandom).hear_hello,
        Inviting(os.urandom).hear_key,
        Asking(os.urandom).hear_commit,
        lambda data: Asking(os.urandom).hear_reveal(data, bytes(KEY_BYTES)),
        Session(bytes(32), b"", inviting=True).open,
        read_name,
    ]
    for hear in hearers:
        try:
            hear(message)
        except PeerViolation:
            continue


@given(st.text(max_size=200))
def test_whatever_somebody_is_called_the_other_side_takes_it(name: str) -> None:
    inviting, asking = Inviting(os.urandom), Asking(os.urandom)
    assert inviting.hear_hello(asking.hello(name))
    assert asking.hear_commit(inviting.commit(name, name))
