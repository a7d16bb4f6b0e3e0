"""The objects that one page shows, its own and those inside it: whether all of them are saved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from liveobj.objects.shared_document import SharedDocument, SharedState
from liveobj.observers import Subscription


class PageObjects:
    """Calls back at once, within the key press, when something of the page is not saved any more;
    `on_changed` is called after every other change. Attributes: `own`, the page's own object."""

    def __init__(
        self,
        own: SharedDocument,
        on_unsaved: Callable[[], None],
        on_changed: Callable[[], None],
    ) -> None:
        self.own = own
        self._on_unsaved = on_unsaved
        self._on_changed = on_changed
        self._watched: dict[SharedDocument, Subscription] = {}
        # Those whose newest state is not "saved", which are few.
        self._unsaved: set[SharedDocument] = set()
        self.add(own)

    def add(self, shared: SharedDocument) -> None:
        """Watches one more object; nothing where it is watched already."""
        if shared in self._watched:
            return
        self._forget_closed()
        self._watched[shared] = shared.observe(lambda state: self._on_state(shared, state))
        self._on_state(shared, shared.state)

    @property
    def state(self) -> SharedState:
        """That of the page's own object; saved only if those inside are, too."""
        inside = [shared.state for shared in self.unsaved() if shared is not self.own]
        state = self.own.state
        if not inside:
            return state
        problems = [one.problem for one in (state, *inside) if one.problem is not None]
        return replace(
            state,
            saved=state.saved and all(one.saved for one in inside),
            problem=problems[0] if problems else None,
            draft=state.draft or any(one.draft for one in inside),
            disk_full=state.disk_full or any(one.disk_full for one in inside),
        )

    def unsaved(self) -> list[SharedDocument]:
        """Those with something that is not on the disk."""
        self._forget_closed()
        return list(self._unsaved)

    def all(self) -> list[SharedDocument]:
        """The page's own object, and those inside."""
        self._forget_closed()
        return list(self._watched)

    def close(self) -> None:
        for subscription in self._watched.values():
            subscription.close()
        self._watched.clear()

    def _on_state(self, shared: SharedDocument, state: SharedState) -> None:
        safe = state.saved and not state.draft and state.problem is None
        if safe:
            self._unsaved.discard(shared)
            self._on_changed()
        else:
            self._unsaved.add(shared)
            self._on_unsaved()

    def _forget_closed(self) -> None:
        for shared in [shared for shared in self._watched if shared.closed]:
            self._watched.pop(shared).close()
            self._unsaved.discard(shared)
