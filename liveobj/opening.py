"""Owns one showing of a live object: the running proxy whose document a window shows, and its end.

The same object may be shown several times on one node, in tabs and inside others: every showing has
its own proxy, and they share one document, one group and one database (see `Context.share`).
"""

from __future__ import annotations

from collections.abc import Callable

from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.shared_document import SharedDocument
from liveobj.observers import Subscription
from liveobj.references import Fingerprint, Reference, fingerprint
from liveobj.runtime import CannotDereference, ProxyReference, ProxyState, Runtime
from liveobj.runtime.proxy import Proxy
from transport.sentences import worded


class Opening:
    """An object that is open here. Attributes: `reference`, `identity`, `shared`."""

    def __init__(self, runtime: Runtime, reference: Reference) -> None:
        """Raises a Problem, and nothing stays open, if it cannot be shown."""
        self.reference = reference
        self.identity: Fingerprint = fingerprint(reference)
        self._runtime = runtime
        self._proxy = runtime.dereference(reference)
        try:
            self.shared: SharedDocument = _document_of(self._proxy)
        except CannotDereference:
            self._proxy.close()
            raise

    @property
    def title(self) -> str:
        return self.shared.title

    @property
    def problem(self) -> str:
        """Why it has stopped; empty while it runs."""
        return self._proxy.proxy.problem

    @property
    def alone(self) -> bool:
        """Whether nothing else on this node shows the object."""
        return self._proxy.proxy.state.alive and self._proxy.instance.alone

    def when_failed(self, callback: Callable[[str], None]) -> Subscription:
        """Calls back with a sentence if the object stops by itself."""

        def look(proxy: Proxy) -> None:
            if proxy.state is ProxyState.FAILED:
                callback(proxy.problem)

        return self._proxy.proxy.observe(look)

    def sleep(self) -> None:
        """Nobody looks at it for now."""
        self._runtime.sleep(self._proxy)

    def wake(self) -> None:
        self._runtime.wake(self._proxy)

    def close(self) -> None:
        """Harmless when done twice."""
        self._proxy.close()


def _document_of(proxy: ProxyReference) -> SharedDocument:
    if proxy.state is ProxyState.FAILED:
        raise CannotDereference(proxy.proxy.problem)
    instance = proxy.instance
    if not isinstance(instance, DocumentProxy):
        raise CannotDereference(
            worded("It runs without a window: `live-objects inspect` shows what it is made of.")
        )
    shared: SharedDocument = instance.shared
    return shared
