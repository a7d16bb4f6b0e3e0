"""Owns one engine's groups: joined, left, keyed, and gone with it.

Shared by the engine on UDP sockets and by simulated ones; what C reports goes by
`transport.dispatch`.
"""

from __future__ import annotations

from collections.abc import Callable

from transport import binding
from transport.dispatch import Dispatch
from transport.errors import BadArgument, Closed, WrongMoment
from transport.events import Health
from transport.group import Group
from transport.group_keys import OWN, GroupKeys
from transport.interfaces import GROUP_ID_BYTES, GROUP_KEY_BYTES
from transport.loans import Loans
from transport.scope_keys import ScopeKeys, checked_key

RENEWAL_SEED_BYTES = 32


class Node(Dispatch):
    """An engine seen from Python, whatever drives it. Fulfils `transport.interfaces.Network`."""

    def __init__(self) -> None:
        super().__init__()
        # Called when the engine wants to be stepped although nothing was received.
        self.on_wake: Callable[[], None] | None = None
        # Called after `renew_identity`: whoever else signs or numbers anything by an id that was
        # drawn on this machine draws a new one, too. Groups and objects stay open.
        self.on_new_identity: Callable[[], None] | None = None
        # How many feeds are being asked now: while any is, C must not be called again.
        self.pulling = 0
        self._core: binding.Core | None = None
        self._pulled: list[object] = []
        self._postponed: list[Callable[[], None]] = []
        self._escaped: BaseException | None = None
        self._last_node = 0
        self._departing = False
        self._epoch = OWN
        self._scope_keys = ScopeKeys()
        self._prefers_unicast = False

    # What the layers above use

    @property
    def node(self) -> int:
        """This node's id; the last one it had when it is closed."""
        if self._core is not None:
            self._last_node = self._core.node
        return self._last_node

    @property
    def health(self) -> Health:
        return Health.CLOSED if self._core is None else Health(self._core.health)

    @property
    def closed(self) -> bool:
        return self._core is None

    @property
    def departing(self) -> bool:
        """Whether it is on its way out."""
        return self._departing

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups joined now."""
        return tuple(self._groups.values())

    def join(self, group_id: bytes, key: bytes) -> Group:
        """Joins the group; the first view follows when membership has been agreed."""
        core = self._open_core()
        if len(group_id) != GROUP_ID_BYTES:
            raise BadArgument(f"A group's id has {GROUP_ID_BYTES} bytes.", group=group_id)
        if len(key) != GROUP_KEY_BYTES:
            raise BadArgument(f"A group's key has {GROUP_KEY_BYTES} bytes.", group=group_id)
        if self.pulling:
            raise WrongMoment("A feed that is being asked cannot join a group: do it later.")
        group = Group(self, bytes(group_id), binding.new_number(), GroupKeys(bytes(key)))
        group.handle = core.join(group.group_id, bytes(key), group.number)
        self._groups[group.number] = group
        group.keys.use(group, self._epoch)
        self.wake()
        return group

    def use_epoch(self, epoch: int) -> None:
        """Groups seal with their keys of that epoch from now on, those joined later as well."""
        self._epoch = epoch
        self.when_possible(self._change_keys)

    def _change_keys(self) -> None:
        for group in self._groups.values():
            group.keys.use(group, self._epoch)

    # The scope's key, see `transport.scope_keys`

    def add_scope_key(self, key: bytes) -> None:
        """Hears packets under that key as well."""
        key = checked_key(key)
        self.when_possible(lambda: self._scope_keys.add(self._open_core(), key))

    def use_scope_key(self, key: bytes) -> None:
        """Makes packets with that key, which has been added."""
        key = checked_key(key)
        self.when_possible(lambda: self._scope_keys.use(self._open_core(), key))

    def drop_scope_key(self, key: bytes) -> None:
        """Is deaf to that key, which is not the one in use."""
        key = checked_key(key)
        self.when_possible(lambda: self._scope_keys.drop(self._open_core(), key))

    @property
    def prefers_unicast(self) -> bool:
        return self._prefers_unicast

    def prefer_unicast(self, prefers: bool) -> None:
        """Says whether multicast is a burden on this node's line: small regions that it shares with
        others then go by unicast."""
        self._prefers_unicast = prefers
        self.when_possible(lambda: self._open_core().prefer_unicast(self._prefers_unicast))

    def renew_identity(self, seed: bytes) -> None:
        """Goes on under a new id, in the same groups, and leaves the old one without a word: a
        machine that was cloned or goes on from a snapshot has a twin with that id. `seed` is 32
        bytes that the twin does not have."""
        if len(seed) != RENEWAL_SEED_BYTES:
            raise BadArgument(f"The seed has {len(seed)} bytes: it must have {RENEWAL_SEED_BYTES}.")
        if self.pulling:
            raise WrongMoment("A feed that is being asked cannot renew the identity: do it later.")
        self._open_core().renew(seed)
        self.wake()
        if self.on_new_identity is not None:
            self.on_new_identity()

    def counters(self) -> dict[str, int]:
        """Every counter of the engine, by name."""
        return self._open_core().counters()

    def regions(self) -> list[binding.Region]:
        return self._open_core().regions()

    def unheard(self) -> list[binding.Address]:
        """Where those are whose multicast should reach this node and does not."""
        return self._open_core().unheard()

    def missed_address(self) -> binding.MissedAddress | None:
        """The multicast address of a region that does not reach this node, if one does not."""
        return self._open_core().missed_address()

    def short_paths(self) -> list[binding.ShortPath]:
        """Nodes to which paths carry less than the interfaces say."""
        return self._open_core().short_paths()

    def probe_paths(self) -> None:
        """Finds out whether paths carry what the interfaces say, without waiting for losses; look
        at `short_paths` a few seconds later."""
        self._open_core().probe_paths()
        self.wake()

    def trace_text(self) -> str:
        """The last things the engine did, a line each."""
        return self._open_core().trace_text()

    @property
    def trace_hash(self) -> int:
        return self._open_core().trace_hash

    def set_plan(self, text: str) -> None:
        """Regions for the policy PLAN."""
        self._open_core().set_plan(text)

    # What groups use

    def wake(self) -> None:
        if self.on_wake is not None:
            self.on_wake()

    def when_possible(self, call: Callable[[], None]) -> None:
        """Runs it now, or when C has returned if C is asking a feed."""
        if self.pulling:
            self._postponed.append(call)
            self.postpone()
        else:
            call()

    def postpone(self) -> None:
        """Something waits for C to return; a driver that runs for long may end its run."""

    def keep(self, data: object) -> None:
        """Keeps what a feed gave alive, as long as the engine may read it."""
        self._pulled.append(data)

    def escape(self, problem: BaseException) -> None:
        """Something like KeyboardInterrupt inside C: raised again when C has returned."""
        self._escaped = problem

    def leave(self, group: Group) -> None:
        handle = group.handle
        if self._groups.pop(group.number, None) is None:
            return
        if self.on_change is not None:
            self.on_change((group, None))
        group.end(None)
        self.when_possible(lambda: self._leave(handle))

    def _leave(self, handle: binding.CData) -> None:
        if self._core is not None:
            binding.leave(handle)
            self.wake()

    # What drivers use

    def after_native(self) -> None:
        """C has returned: does what waited for that, and lets out what must not stay inside."""
        while self._postponed:
            postponed, self._postponed = self._postponed, []
            for call in postponed:
                call()
        if self._escaped is not None:
            escaped, self._escaped = self._escaped, None
            raise escaped

    def begin_departure(self, now_ns: int) -> None:
        """Tells C to leave; what it knew of groups is invalid from here on."""
        core = self._open_core()
        if self.pulling:
            raise WrongMoment("A feed that is being asked cannot close the engine.")
        if not self._departing:
            self._departing = True
            self.end_groups(Closed("The engine is closing: open a new one."))
            core.close(now_ns)
            self.wake()

    def begin_again(self, core: binding.Core) -> None:
        """Of a driver that has another core: what was joined is joined there, as somebody new."""
        self._core = core
        self._loans = Loans()
        self.forget_events(health_too=True)
        self._scope_keys.give(core)
        for group in self._groups.values():
            group.begin_again(core.join(group.group_id, group.keys.own, group.number))
            group.keys.use(group, self._epoch)

    def end_groups(self, error: Exception | None) -> None:
        """The groups are gone, or C is about to forget them; what was reported of them is too."""
        groups = list(self._groups.values())
        self._groups.clear()
        self.forget_events(health_too=False)
        self._postponed.clear()
        for group in groups:
            group.end(error)

    def _open_core(self) -> binding.Core:
        if self._core is None:
            raise Closed("The engine has been closed: open a new one.")
        return self._core
