"""Owns what the proxies of document objects have in common: sharing, sleeping, refusing
politely."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liveobj.documents import DocumentError
from liveobj.objects.shared_document import SharedDocument, SharedState, describe_shared
from liveobj.observers import Subscription
from liveobj.runtime.context import Context, Lease


class DocumentProxy:
    """Base of the live objects whose state is a document. A subclass names its template and kind,
    and says in `watch` what it tells its endpoints."""

    context: Context

    _template_id = ""
    _kind = ""
    _lease: Lease
    _away = False
    _watching: list[Subscription]

    def __init__(self, title: str, verify_key: bytes) -> None:
        """The arguments are read, with the secrets, from the reference itself."""

    @property
    def shared(self) -> Any:
        """What is open here; its class is what `open_shared` gives."""
        return self._lease.value

    @property
    def alone(self) -> bool:
        """Whether this is the only proxy of the object on this node."""
        return self._lease.alone

    def open_shared(self) -> SharedDocument:
        reference = self.context.reference
        description = describe_shared(reference, self._template_id, self._kind)
        return SharedDocument(reference, self.context.host, description)

    def watch(self) -> list[Subscription]:
        """Begins to observe; what is returned is closed at the end."""
        return []

    def on_start(self) -> None:
        # One, however many windows of this program show it: one group, one database.
        key = (self._template_id, self.context.fingerprint)
        self._lease = self.context.share(key, self.open_shared)
        self._watching = [*self.watch(), self._watch_warnings()]

    def _watch_warnings(self) -> Subscription:
        """Whoever opens an object sees what it warns of; this is for what comes later."""
        known = self.shared.state.warning

        def look(state: SharedState) -> None:
            nonlocal known
            if state.warning != known:
                known = state.warning
                if known is not None:
                    self.context.notice(known)

        watching: Subscription = self.shared.observe(look)
        return watching

    def on_stop(self) -> None:
        for subscription in self._watching:
            subscription.close()
        if self._lease.alone and not self.shared.finish():
            self._keep_until_saved()
        else:
            self._lease.close()

    def _keep_until_saved(self) -> None:
        """What the disk refuses stays open until it is written; whoever opens the object again
        meanwhile finds it as it was left."""
        lease, shared = self._lease, self.shared
        scheduler = self.context.host.scheduler

        def look(state: SharedState) -> None:
            if state.saved:
                watching.close()
                scheduler.call_later(0, lease.close)

        watching = shared.observe(look)
        self.context.keep(lease)

    def on_sleep(self) -> None:
        self.shared.flush()

    def on_hibernate(self) -> None:
        if self._lease.alone:
            self._away = True
            self.shared.leave()

    def on_wake(self) -> None:
        if self._away:
            self._away = False
            self.shared.rejoin()

    def edit(self, change: Callable[[], None]) -> None:
        """Does what another object asked for. If it cannot be, it is they who are wrong, or may
        only look; so this one goes on, and the person is told."""
        try:
            change()
        except DocumentError as problem:
            self.context.notice(str(problem))
