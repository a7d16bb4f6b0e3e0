"""One invitation to a private network, or one asking for it, as a page shows it step by step.

Runs in a task of the event loop; whoever closes the page stops it, and then nobody is let in.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from transport.config import Peer
from transport.errors import (
    Closed,
    Declined,
    PeerLost,
    PeerViolation,
    SystemRefused,
    TransportError,
)
from transport.pairing_stream import Invitation, Meeting, ask
from transport.scopes import Scope
from widgets.language import tr
from widgets.office_network_page import Inviter, OfficeNetworkPage

if TYPE_CHECKING:
    from transport.invitations import Invited

# An announcement carries a name in 255 bytes at most.
_NAME_CHARACTERS_MAX = 48


class ScopePairing:
    """Two computers and two people, seen from one side. `name` is what the other side reads,
    `address` that of the interface on which they meet. Attribute: `task`, which does it."""

    def __init__(self, page: OfficeNetworkPage, name: str, address: str) -> None:
        self._page = page
        self._name = _announced_name(name)
        self._address = address
        self.task: asyncio.Task[None] | None = None
        self._stopped = False
        self._invitation: Invitation | None = None
        self._answer: asyncio.Future[bool] | None = None
        self._choice: asyncio.Future[Peer] | None = None
        self._found: dict[str, Invited] = {}

    def invite(self, loop: asyncio.AbstractEventLoop, scope: Scope) -> None:
        """Lets in one who asks, after both people have said that their codes are the same."""
        self.task = loop.create_task(self._run(self._invite(scope)))

    def join(self, loop: asyncio.AbstractEventLoop, on_joined: Callable[[Scope], None]) -> None:
        """Asks whoever the person chooses, until somebody has let them in."""
        self.task = loop.create_task(self._run(self._join(on_joined)))

    def stop(self) -> None:
        """The page is not shown any more: it is not touched, and the other side is told."""
        self._stopped = True
        if self._invitation is not None:
            self._invitation.close()
        if self.task is not None:
            self.task.cancel()

    # What the person does

    def answer(self, same: bool) -> None:
        """Whether both computers show the same code."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(same)

    def choose(self, place: str) -> None:
        """One of the invitations that were found."""
        if place in self._found:
            self._choose(self._found[place].peer)

    def type_address(self, text: str) -> None:
        """Where somebody invites who was not found."""
        try:
            peer = Peer.parse(text)
        except TransportError:
            self._page.say(
                tr("“{typed}” is no address: write it like 192.168.1.5:47475.", typed=text.strip())
            )
            return
        self._choose(peer)

    def _choose(self, peer: Peer) -> None:
        if self._choice is not None and not self._choice.done():
            self._choice.set_result(peer)

    # The two sides

    async def _run(self, side: Coroutine[Any, Any, None]) -> None:
        try:
            await side
        except TransportError as problem:
            if not self._stopped:
                self._page.show_choices()
                self._page.say(_words(problem))

    async def _invite(self, scope: Scope) -> None:
        # mDNS takes long to load, and few ever invite.
        from transport.invitations import announce_invitation  # noqa: PLC0415

        async with contextlib.AsyncExitStack() as stack:
            invitation = await Invitation.open(scope, self._name, self._address)
            self._invitation = invitation
            stack.push_async_callback(_end, invitation)
            self._page.show_waiting(_typed(invitation.peer))
            # Where nothing can be announced, the address still can be typed.
            with contextlib.suppress(TransportError, OSError):
                announcement = await announce_invitation(self._name, invitation.peer)
                stack.push_async_callback(announcement.close)
            while not await self._let_in(await invitation.meet(), scope):
                self._page.show_waiting(_typed(invitation.peer))
        self._page.show_choices()

    async def _let_in(self, meeting: Meeting, scope: Scope) -> bool:
        name = meeting.their_name
        said = tr("{name} wants to join {network}.", name=name, network=scope.name)
        try:
            if not await self._compare(meeting, said):
                self._page.say(tr("{name} was not let in.", name=name))
                return False
            await meeting.give(scope)
        except (Declined, PeerLost, PeerViolation) as problem:
            self._page.say(_words(problem))
            return False
        self._page.say(tr("{name} is in {network} now.", name=name, network=scope.name))
        return True

    async def _join(self, on_joined: Callable[[Scope], None]) -> None:
        async with self._looking_out():
            while True:
                self._page.show_search()
                self._page.show_inviters(self._inviters())
                self._choice = asyncio.get_running_loop().create_future()
                scope = await self._ask(await self._choice)
                if scope is not None:
                    break
        on_joined(scope)

    async def _ask(self, peer: Peer) -> Scope | None:
        """The scope that the one at `peer` lets this person into; none when they do not."""
        self._page.show_busy(tr("Asking at {address}…", address=_typed(peer)))
        try:
            meeting = await ask(peer, self._name)
        except PeerLost:
            self._page.say(tr("Nobody invites there: ask the other person to invite again."))
            return None
        except PeerViolation as problem:
            self._page.say(_words(problem))
            return None
        said = tr(
            "{name} invites you to {network}.", name=meeting.their_name, network=meeting.scope_name
        )
        try:
            if await self._compare(meeting, said):
                return await meeting.take()
        except (Declined, PeerLost, PeerViolation) as problem:
            self._page.say(_words(problem))
            return None
        self._page.say(tr("Nothing was joined."))
        return None

    async def _compare(self, meeting: Meeting, said: str) -> bool:
        """Whether the person says that the codes are the same; otherwise the other is told."""
        self._answer = asyncio.get_running_loop().create_future()
        self._page.show_code(said, meeting.code)
        same = False
        try:
            same = await self._answer
        finally:
            if not same:
                await meeting.refuse()
        if same:
            self._page.show_busy(tr("Waiting until {name} says so, too…", name=meeting.their_name))
        return same

    # Who invites

    @contextlib.asynccontextmanager
    async def _looking_out(self) -> AsyncIterator[None]:
        from transport.invitations import look_out_for_invitations  # noqa: PLC0415 - as above

        try:
            lookout = look_out_for_invitations(self._address, self._on_invited, self._on_gone)
        except (TransportError, OSError):
            self._page.say(tr("Invitations cannot be searched here: type an address instead."))
            yield
            return
        try:
            yield
        finally:
            await lookout.close()

    def _on_invited(self, invited: Invited) -> None:
        self._found[invited.place] = invited
        self._show_found()

    def _on_gone(self, place: str) -> None:
        self._found.pop(place, None)
        self._show_found()

    def _show_found(self) -> None:
        if not self._stopped:
            self._page.show_inviters(self._inviters())

    def _inviters(self) -> list[Inviter]:
        return [
            Inviter(place, invited.name, _typed(invited.peer))
            for place, invited in sorted(self._found.items())
        ]


async def _end(invitation: Invitation) -> None:
    """Ends an invitation; who came at the last moment is told."""
    invitation.close()
    with contextlib.suppress(Closed):
        while True:
            await (await invitation.meet()).refuse()


def _typed(peer: Peer) -> str:
    host = f"[{peer.address}]" if ":" in peer.address else peer.address
    return f"{host}:{peer.port}"


def _announced_name(name: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in name)
    return printable[:_NAME_CHARACTERS_MAX].strip() or "?"


def _words(problem: TransportError) -> str:
    """What has happened, for the person."""
    if isinstance(problem, Declined):
        return tr(
            "The other person has refused: if the codes were not the same, somebody may stand"
            " between the two computers."
        )
    if isinstance(problem, PeerLost):
        return tr("The other computer has gone, or its user took too long: begin again.")
    if isinstance(problem, PeerViolation):
        return tr("The other computer does not keep to the rules: begin again.")
    if isinstance(problem, Closed):
        return tr("Too many have asked in vain: invite again.")
    if isinstance(problem, SystemRefused):
        return tr("This computer cannot wait for others here: look whether it is connected.")
    return str(problem)
