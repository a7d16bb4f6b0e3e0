"""The key of a profile's private network while a program runs in it: renewed, followed, written to
the profile, and asked about by scripts."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from app.errors import StartProblem
from app.network_profile import NetworkProfile
from transport.config import Peer
from transport.engine import Engine
from transport.errors import TransportError
from transport.finder import Finder
from transport.renewal_exchange import RenewalExchange
from transport.scope_keeper import CallAt, ScopeKeeper
from transport.scope_renewal import ScopeMember
from transport.scopes import Scope
from widgets.language import tr

log = logging.getLogger(__name__)


class ScopeCare:
    """`name` is what the others read; `on_left_out` is told when the key was renewed without this
    user. Attribute: `keeper`."""

    def __init__(
        self,
        engine: Engine,
        profile: NetworkProfile,
        call_at: CallAt,
        name: Callable[[], str],
        on_left_out: Callable[[], None] = lambda: None,
    ) -> None:
        scope = engine.config.scope
        self._engine = engine
        self._profile = profile
        records = profile.scope_records(scope)
        identity = profile.identity()
        self._fingerprint = identity.fingerprint
        self.keeper = ScopeKeeper(engine, scope, identity, records, call_at, time.monotonic, name)
        self.keeper.on_scope = self._keep
        self.keeper.on_left_out = lambda _: on_left_out()
        address = engine.info().address
        self._exchange = RenewalExchange(self.keeper, Peer(address.text, address.port))

    def start(
        self, loop: asyncio.AbstractEventLoop, known: Iterable[Peer], finder: Finder | None
    ) -> None:
        """Answers others who were away, and asks them."""
        self._exchange.start(loop, known)
        if finder is not None:
            finder.on_found = self._exchange.meet

    def move(self) -> None:
        """The engine has another address."""
        address = self._engine.info().address
        self._exchange.move(Peer(address.text, address.port))

    async def close(self) -> None:
        """Harmless when done twice."""
        await self._exchange.close()
        self.keeper.close()

    def _keep(self, scope: Scope) -> None:
        try:
            self._profile.join(scope)
        except StartProblem as problem:
            # The renewal is in the records: the next start finds it there.
            log.error("the network's new key is not written: %s", problem)

    @property
    def fingerprint(self) -> str:
        """This user's own."""
        return self._fingerprint

    @property
    def titles(self) -> dict[bytes, str]:
        """What its groups are for, to whoever looks at the network."""
        words = tr("members of {network}", network=self.keeper.scope.name)
        return dict.fromkeys(self.keeper.group_ids, words)

    # What scripts ask

    def members(self) -> dict[str, Any]:
        return {"scope": self.keeper.scope.name, "members": self._listed()}

    def _listed(self) -> list[dict[str, str]]:
        return [{"name": one.name, "fingerprint": one.fingerprint} for one in self.keeper.members]

    def renew(self, fingerprints: list[str]) -> dict[str, Any]:
        """Without those; what went wrong is in the answer."""
        known: dict[str, ScopeMember] = {one.fingerprint: one for one in self.keeper.members}
        unknown = [each for each in fingerprints if each not in known]
        if unknown:
            return {"error": f"Nobody in this network has the fingerprint {unknown[0]}."}
        try:
            self.keeper.renew([known[each].public for each in fingerprints])
        except TransportError as problem:
            return {"error": str(problem)}
        return {"renewed": self.keeper.scope.name, "members": self._listed()}


def answer_about_scope(care: ScopeCare | None, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a running program answers to scripts; None for what is not for here."""
    match request:
        case {"do": "scope-members" | "scope-renew"} if care is None:
            return {"error": "The program that runs is not in that network yet: start it again."}
        case {"do": "scope-members"} if care is not None:
            return care.members()
        case {"do": "scope-renew", "without": [*without]} if care is not None:
            return care.renew([str(each) for each in without])
    return None
