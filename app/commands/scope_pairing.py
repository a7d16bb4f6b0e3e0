"""`live-objects scope invite` and `scope request`: one computer lets another into its scope after
their users have compared a code."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from contextlib import AsyncExitStack

from app.commands.arguments import add_interface, add_port
from app.errors import StartProblem
from app.network_profile import NetworkProfile
from transport.config import Peer
from transport.errors import Closed, Declined, PeerLost, PeerViolation
from transport.invitations import Invited, announce_invitation, find_invitations
from transport.links import best_link, list_links
from transport.pairing_stream import Invitation, Meeting, ask
from transport.scopes import Scope
from widgets.language import tr

# In every language that the question is asked in.
_YES = ("y", "yes", "j", "ja")


def add_arguments(invite: argparse.ArgumentParser, request: argparse.ArgumentParser) -> None:
    for action in (invite, request):
        add_interface(action)
        action.add_argument(
            "--name",
            metavar="NAME",
            default="",
            help=tr("how the other sees you (this computer's)"),
        )
    add_port(invite, tr("TCP port to wait at"))
    invite.add_argument("--no-mdns", action="store_true", help=tr("do not announce the invitation"))
    request.add_argument(
        "peer", metavar="ADDR:PORT", nargs="?", help=tr("who invites, if not found")
    )
    request.add_argument(
        "--from",
        dest="inviter",
        metavar="NAME",
        default="",
        help=tr("ask only whoever invites under this name, where several people invite"),
    )


def invite(arguments: argparse.Namespace, profile: NetworkProfile) -> str:
    """Waits until somebody has been let in."""
    scope = profile.scope()
    if not scope.private:
        raise StartProblem(
            tr(
                "This profile is in {scope}, where everybody is: make a private scope first, with"
                " live-objects scope make.",
                scope=scope.name,
            )
        )
    return asyncio.run(_invite(arguments, scope))


def request(arguments: argparse.Namespace) -> Scope:
    """Asks whoever invites; the scope that this profile is to join."""
    return asyncio.run(_request(arguments))


async def _invite(arguments: argparse.Namespace, scope: Scope) -> str:
    name = arguments.name or socket.gethostname()
    async with AsyncExitStack() as stack:
        invitation = await Invitation.open(scope, name, _address(arguments), port=arguments.port)
        stack.callback(invitation.close)
        peer = invitation.peer
        if not arguments.no_mdns:
            announcement = await announce_invitation(name, peer)
            stack.push_async_callback(announcement.close)
        _say(
            tr("Inviting to the scope {scope}. On the other computer:", scope=scope.name)
            + f"\n  live-objects scope request {peer.address}:{peer.port}"
        )
        while True:
            try:
                meeting = await invitation.meet()
            except Closed:
                raise StartProblem(tr("Too many have asked in vain: invite again.")) from None
            try:
                if await _compare(meeting, tr("{name} wants to join.", name=meeting.their_name)):
                    await meeting.give(scope)
                    name = meeting.their_name
                    return (
                        tr("{name} is in the scope {scope} now.", name=name, scope=scope.name)
                        + "\n"
                    )
            except (Declined, PeerLost, PeerViolation) as problem:
                _say(str(problem))


async def _request(arguments: argparse.Namespace) -> Scope:
    if arguments.peer is not None:
        peer = Peer.parse(arguments.peer)
    else:
        found = await find_invitations(_address(arguments), name=arguments.inviter)
        peer = (await _choose(found, arguments.inviter)).peer
    meeting = await ask(peer, arguments.name or socket.gethostname())
    said = tr(
        "{name} invites to the scope {scope}.", name=meeting.their_name, scope=meeting.scope_name
    )
    if not await _compare(meeting, said):
        raise StartProblem(tr("Nothing was joined."))
    return await meeting.take()


async def _choose(found: tuple[Invited, ...], inviter: str) -> Invited:
    if not found:
        raise StartProblem(
            tr(
                "Nobody called {name} invites on this network: start live-objects scope invite on"
                " the other computer, or type the address that it shows.",
                name=inviter,
            )
            if inviter
            else tr(
                "Nobody invites on this network: start live-objects scope invite on the other"
                " computer, or type the address that it shows."
            )
        )
    if len(found) == 1:
        return found[0]
    for number, invited in enumerate(found, 1):
        _say(f"  {number}  {invited.name} ({invited.peer.address})")
    answer = await _answer(tr("Whose invitation?") + f" [1-{len(found)}] ")
    if not answer.isdigit() or not 1 <= int(answer) <= len(found):
        raise StartProblem(tr("Nothing was joined."))
    return found[int(answer) - 1]


async def _compare(meeting: Meeting, said: str) -> bool:
    """Whether the person says that both see the same; otherwise the meeting has been refused."""
    _say(said + " " + tr("The code is") + f"\n\n    {meeting.code}\n")
    question = tr("Is it the same on the other computer? [y/N]")
    if (await _answer(f"{question} ")).lower() in _YES:
        return True
    await meeting.refuse()
    return False


async def _answer(question: str) -> str:
    """A line from the input, while the network goes on."""
    sys.stdout.write(question)
    sys.stdout.flush()
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), readable.set)
    except PermissionError:  # A file, which can be read at once.
        return sys.stdin.readline().strip()
    try:
        await readable.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    # Byte by byte, so that nothing of the next answer is taken.
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(sys.stdin.fileno(), 1)):
        line += byte
    return line.decode("utf-8", "replace").strip()


def _address(arguments: argparse.Namespace) -> str:
    """The address of the interface that is named, or of the best one."""
    links = list_links()
    wanted = arguments.interface
    chosen = [link for link in links if wanted in {link.name, link.address}] if wanted else links
    link = best_link(chosen)
    if link is None:
        if wanted:
            words = tr(
                "This computer has no interface {name}: name another one with --interface.",
                name=wanted,
            )
        else:
            words = tr("This computer has no interface that is connected.")
        raise StartProblem(words)
    return link.address


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()
