"""The page "Office network": in which scope one is, and how to make, share, join and leave one."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass

from app.errors import StartProblem
from app.network_profile import NetworkProfile
from app.scope_care import ScopeCare
from app.scope_invitations import ScopeInvitations
from app.scope_pairing import ScopePairing
from app.window import MainWindow
from transport.config import Peer
from transport.errors import TransportError
from transport.scopes import NEARBY, Scope
from widgets.action import Action
from widgets.language import tr
from widgets.office_network_page import NetworkMember, OfficeNetworkPage

# To take an invitation back from the network.
_FINISH_S = 2.0


@dataclass(frozen=True, slots=True)
class Meetings:
    """Where computers meet: the scope that this run is in, the address of the interface that it
    uses, the loop that waits there, and the care for the key of a private one, when it is there."""

    scope: Scope
    address: Callable[[], str]
    loop: asyncio.AbstractEventLoop
    care: Callable[[], ScopeCare | None] = lambda: None
    # Asks at a typed address.
    reach: Callable[[Peer], None] = lambda _: None
    # Lets the person choose the network interface on the page.
    show_interfaces: Callable[[OfficeNetworkPage], None] = lambda _: None


def scope_words(scope: Scope) -> str:
    """The network that a profile is in, for a person."""
    if scope.private:
        return tr("{name}: only those who were invited", name=scope.name)
    return tr("Nearby: everybody on this office network")


class ScopeActions:
    """Shows the page and does what is asked for there. What was joined or left counts from the
    next start on; `my_name` is what others read."""

    def __init__(
        self,
        window: MainWindow,
        profile: NetworkProfile,
        meetings: Meetings,
        my_name: Callable[[], str],
    ) -> None:
        self._window = window
        self._profile = profile
        self._meetings = meetings
        self._my_name = my_name
        self._page: OfficeNetworkPage | None = None
        self._pairing: ScopePairing | None = None
        self._invitations: ScopeInvitations | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def register(self) -> None:
        self._window.registry.add(Action("network.open", tr("Office network…"), self._open))

    def begin(self) -> None:
        self._window.page_closed.connect(self._on_page_closed)
        self._window.network_changed.connect(self._show_connection)

    def close(self) -> None:
        """Nobody is let in any more."""
        if self._pairing is not None:
            self._pairing.stop()
            task, self._pairing = self._pairing.task, None
            if task is not None and not task.done():
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)

    async def finish(self) -> None:
        """Waits, within a bound, until everybody has been told."""
        self.close()
        if self._ending:
            await asyncio.wait(self._ending, timeout=_FINISH_S)

    def _open(self) -> None:
        if self._page is not None:
            self._window.bring_to_front(self._page)
            return
        page = self._page = OfficeNetworkPage(self._window.theme)
        page.make_wanted.connect(self._make)
        page.leave_wanted.connect(self._leave)
        page.invite_wanted.connect(self._invite)
        page.join_wanted.connect(self._join)
        page.cancel_wanted.connect(self._cancel)
        page.chosen.connect(self._on_chosen)
        page.typed.connect(self._on_typed)
        page.answered.connect(self._on_answered)
        page.members_wanted.connect(self._show_members)
        page.renew_wanted.connect(self._renew)
        page.reach_wanted.connect(self._reach)
        self._invitations = ScopeInvitations(self._window, page, self._profile, self._on_joined)
        self._meetings.show_interfaces(page)
        self._show_scope()
        self._show_connection()
        self._window.show_page(page, tr("Office network"), tr("Office network"), "users")

    def _on_page_closed(self, page: object) -> None:
        if page is self._page:
            self.close()
            self._page = None

    def _show_connection(self) -> None:
        if self._page is not None:
            self._page.show_connection(self._window.network.sentence)

    def _show_scope(self) -> None:
        page = self._page
        if page is None:
            return
        now = self._meetings.scope
        try:
            then = self._profile.scope()
        except StartProblem:
            page.show_scope(scope_words(now), "", private=True)
            page.say(tr("The private network of this profile cannot be read: leave it."))
            return
        page.show_scope(
            scope_words(now),
            # The key may have been renewed meanwhile; the network is the same.
            "" if then.scope_id == now.scope_id else scope_words(then),
            private=then.private,
        )

    # What the person wants

    def _make(self, name: str) -> None:
        try:
            scope = Scope.new_private(" ".join(name.split()), os.urandom)
        except TransportError:
            self._say(tr("A network's name has 1 to 64 letters: choose another."))
            return
        self._take_over(scope, tr("You have made {network}.", network=scope.name))

    def _leave(self) -> None:
        self._take_over(NEARBY, tr("You have left the private network."))

    def _show_members(self) -> None:
        care = self._meetings.care()
        if care is None:
            self._say(tr("You are in this network from the next start on: look again then."))
        elif self._page is not None:
            mine = care.fingerprint
            self._page.show_members(
                [
                    NetworkMember(one.name, one.fingerprint, one.fingerprint == mine)
                    for one in care.keeper.members
                ]
            )

    def _renew(self, left_out: list[str]) -> None:
        care = self._meetings.care()
        if care is None:
            return
        answer = care.renew(left_out)
        if self._page is not None:
            self._page.show_choices()
        if "error" in answer:
            self._say(tr("The key was renewed a moment ago, or cannot be now: wait a minute."))
        else:
            self._say(
                tr(
                    "The network has a new key: everybody here has it in some seconds, others when"
                    " they come back."
                )
            )

    def _take_over(self, scope: Scope, said: str) -> None:
        """Writes the scope of the next start."""
        try:
            if scope == NEARBY:
                self._profile.leave()
            else:
                self._profile.join(scope)
        except StartProblem as problem:
            said = str(problem)
        self._show_scope()
        self._say(said)

    def _invite(self) -> None:
        try:
            scope = self._profile.scope()
        except StartProblem:
            self._show_scope()
            return
        pairing = self._begin_pairing()
        if pairing is not None:
            pairing.invite(self._meetings.loop, scope)

    def _join(self) -> None:
        pairing = self._begin_pairing()
        if pairing is not None:
            pairing.join(self._meetings.loop, self._on_joined)

    def _begin_pairing(self) -> ScopePairing | None:
        self.close()
        if self._page is not None:
            name = self._my_name() or socket.gethostname()
            self._pairing = ScopePairing(self._page, name, self._meetings.address())
        return self._pairing

    def _on_chosen(self, place: str) -> None:
        if self._pairing is not None:
            self._pairing.choose(place)

    def _on_typed(self, address: str) -> None:
        if self._invitations is not None and self._invitations.take_text(address):
            return
        if self._pairing is not None:
            self._pairing.type_address(address)

    def _on_answered(self, same: bool) -> None:
        if self._pairing is not None:
            self._pairing.answer(same)

    def _reach(self, address: str) -> None:
        """Asks at a typed address for others of this network."""
        try:
            peer = Peer.parse(address)
            self._meetings.reach(peer)
        except TransportError:
            self._say(
                tr("“{typed}” is no address: write it like 192.168.1.5:47475.", typed=address)
            )
            return
        self._say(
            tr(
                "{address} is asked now and at later starts. If it is of your network, its people"
                " and objects appear by themselves.",
                address=address.strip(),
            )
        )

    def _on_joined(self, scope: Scope) -> None:
        self.close()
        self._take_over(scope, tr("You have joined {network}.", network=scope.name))

    def _cancel(self) -> None:
        self.close()
        self._show_scope()

    def _say(self, words: str) -> None:
        if self._page is not None:
            self._page.say(words)
