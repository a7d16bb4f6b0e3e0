"""Owns trying out whether another computer can be reached, and by what it is kept away.

Three questions, each answered by trying: does its engine let a guest in (so that UDP passes both
ways, and scope, key and version are the same); does its system answer at all (a refusal is an
answer: by UDP that no program is there, by TCP that the computer is); and from which of this
computer's addresses do packets leave. The guest is an engine of its own that joins nothing, hosts
nothing and goes at once.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from transport.config import EngineConfig, Peer
from transport.engine import Engine
from transport.errors import TransportError
from transport.findings import Finding, bad, good, odd
from transport.links import Kind, Link
from transport.loop import AsyncioWatcher, EngineJoin
from transport.scopes import Scope
from transport.sentences import worded

GUEST_S = 3.0
TCP_S = 1.5
UDP_S = 0.3
LISTEN_S = 2.5

_UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN}


class Answer(Enum):
    """What the system of the other computer says: it answers, has no program there, is silent, or
    cannot be reached."""

    YES = 1
    NOBODY = 2
    SILENT = 3
    UNREACHABLE = 4


_ANSWERED = {Answer.YES, Answer.NOBODY}


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of trying one peer; `leaves_from` is this computer's address for packets to it."""

    peer: Peer
    let_in: bool
    answer: Answer
    leaves_from: str


async def try_peer(scope: Scope, interface: str, peer: Peer, wait_s: float = GUEST_S) -> Tried:
    let_in, answer = await asyncio.gather(
        _visit(scope, interface, peer, wait_s), _knock(peer, min(wait_s, TCP_S))
    )
    return Tried(peer, let_in, answer, _leaves_from(peer))


async def _visit(scope: Scope, interface: str, peer: Peer, wait_s: float) -> bool:
    config = EngineConfig(
        scope=scope, interface=interface, multicast=False, may_host=False, known_peers=(peer,)
    )
    try:
        guest = Engine.open(config)
    except TransportError:
        return False
    EngineJoin(guest, AsyncioWatcher())
    try:
        async with asyncio.timeout(wait_s):
            await guest.ready()
    except TimeoutError:
        return False
    finally:
        await guest.close()
    return True


async def _knock(peer: Peer, wait_s: float) -> Answer:
    if await _nobody_there(peer):
        return Answer.NOBODY
    try:
        async with asyncio.timeout(wait_s):
            _, writer = await asyncio.open_connection(peer.address, peer.port)
    except ConnectionRefusedError:
        return Answer.YES
    except TimeoutError:
        return Answer.SILENT
    except OSError as problem:
        return Answer.UNREACHABLE if problem.errno in _UNREACHABLE else Answer.SILENT
    writer.close()
    return Answer.YES


async def _nobody_there(peer: Peer) -> bool:
    """Whether the other system says that no program has this UDP port."""
    family = socket.AF_INET6 if ":" in peer.address else socket.AF_INET
    loop = asyncio.get_running_loop()
    with socket.socket(family, socket.SOCK_DGRAM) as asker:
        asker.setblocking(False)
        try:
            asker.connect((peer.address, peer.port))
            asker.send(b"?")
            async with asyncio.timeout(UDP_S):
                await loop.sock_recv(asker, 64)
        except ConnectionRefusedError:
            return True
        except (OSError, TimeoutError):
            return False
    return False


def _leaves_from(peer: Peer) -> str:
    family = socket.AF_INET6 if ":" in peer.address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asker:
        try:
            asker.connect((peer.address, peer.port))  # Sends nothing; chooses the way.
        except OSError:
            return ""
        return str(asker.getsockname()[0])


def _silence(answer: Answer) -> str:
    return worded("is silent") if answer is Answer.SILENT else worded("cannot be reached")


def judge_peers(tried: Sequence[Tried], link: Link, links: Sequence[Link]) -> list[Finding]:
    """What it means, of each; that others answer says something of those who do not."""
    answering = [each for each in tried if each.let_in or each.answer in _ANSWERED]
    return [judge_peer(each, link, links, others_answer=bool(answering)) for each in tried]


def judge_peer(
    tried: Tried, link: Link, links: Sequence[Link], *, others_answer: bool = False
) -> Finding:
    """What it means, and what to do."""
    where = f"{tried.peer.address}:{tried.peer.port}"
    if tried.let_in:
        return good(
            "peer",
            worded(
                "{where} lets this computer in: UDP passes both ways; scope, key and version fit.",
                where=where,
            ),
        )
    other_way = next((each for each in links if each.address == tried.leaves_from), None)
    if other_way is not None and other_way.name != link.name:
        return bad(
            "vpn" if other_way.kind is Kind.VPN else "route",
            worded(
                "Packets to {where} leave by {other}, not by {link}.",
                where=where,
                other=other_way.name,
                link=link.name,
            ),
            worded("Switch {other} off, or choose it with --interface.", other=other_way.name),
        )
    if tried.answer is Answer.NOBODY:
        return odd(
            "peer",
            worded("{where} has no program there any more.", where=where),
            worded("Start the program there, or use the address that it has now."),
        )
    if tried.answer is Answer.YES:
        return bad(
            "firewall",
            worded("{where} answers, but its program does not let this one in.", where=where),
            worded(
                "Let UDP in at both firewalls; then compare scope and version, and see"
                " that the program runs there."
            ),
        )
    if link.kind is Kind.WIRELESS:
        return bad(
            "isolation",
            worded(
                "{where} {silent} over the wireless {link}.",
                where=where,
                silent=_silence(tried.answer),
                link=link.name,
            ),
            worded(
                "Switch off client isolation (also called AP isolation or guest mode) at"
                " the access point, or use a cable; see that the other computer is on."
            ),
        )
    if others_answer:
        return bad(
            "isolation",
            worded(
                "{where} {silent}, while others on {link} answer.",
                where=where,
                silent=_silence(tried.answer),
                link=link.name,
            ),
            worded(
                "See that it is on. If it is, the network keeps the two apart: switch off"
                " port isolation at the switch, or client isolation at the access point"
                " that it uses."
            ),
        )
    return bad(
        "peer",
        worded("{where} {silent}.", where=where, silent=_silence(tried.answer)),
        worded(
            "See that it is on and in the same network; between segments, a router or"
            " firewall must let UDP through."
        ),
    )


async def check_others_multicast(
    group: str, port: int, link: Link, wait_s: float = LISTEN_S
) -> Finding:
    """Whether multicast of other computers of the scope is heard here."""
    try:
        heard = await _listen(group, port, link.address, wait_s)
    except OSError as problem:
        return bad(
            "multicast from others",
            worded(
                "Nobody can be listened to on {group}: {reason}.",
                group=group,
                reason=problem.strerror,
            ),
            worded("Allow multicast for this program at the firewall."),
        )
    if heard:
        return good(
            "multicast from others",
            worded("Multicast of {heard} is heard on {link}.", heard=heard, link=link.name),
        )
    return odd(
        "multicast from others",
        worded(
            "No multicast of others was heard on {link} for {wait_s} s.",
            link=link.name,
            wait_s=f"{wait_s:g}",
        ),
        worded(
            "If others run in this scope: let UDP port 17474 in, and look for IGMP"
            " snooping without a querier at the switch, or multicast filtering at the"
            " access point. Without multicast the network goes on by unicast, with"
            " more traffic."
        ),
    )


async def _listen(group: str, port: int, address: str, wait_s: float) -> str:
    own = {address, "127.0.0.1"}
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        ear.setblocking(False)
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ear.bind((group, port))
        membership = socket.inet_aton(group) + socket.inet_aton(address)
        ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        try:
            async with asyncio.timeout(wait_s):
                while True:
                    _, (sender, _) = await loop.sock_recvfrom(ear, 2048)
                    if sender not in own:
                        return str(sender)
        except TimeoutError:
            return ""
