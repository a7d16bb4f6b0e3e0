"""Owns the replicated map, counter and log as live objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.documents import Counter, CounterChange, List, ListChange, Map, MapChange
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.shared_document import new_shared
from liveobj.observers import Subscription
from liveobj.references import Parameterized

MAP_ID = "live-objects:map"
COUNTER_ID = "live-objects:counter"
LOG_ID = "live-objects:log"
CONTENT = "content"


def new_map(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    return new_shared(MAP_ID, title, random_bytes)


def new_counter(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    return new_shared(COUNTER_ID, title, random_bytes)


def new_log(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    return new_shared(LOG_ID, title, random_bytes)


@endpoint_type("live-objects:map-endpoint", provides="state channel; edited by its editors")
class MapEndpoint:
    """Values by name; of two who set one name at the same time, the same one wins everywhere."""

    @incoming
    def set(self, name: str, value: Any) -> None:
        """Sets a value: what can be said in JSON, or bytes."""

    @incoming
    def remove(self, name: str) -> None:
        """Takes a name out."""

    @outgoing
    def changed(self, name: str, value: Any) -> None:
        """A value is new; also told for all when connected."""

    @outgoing
    def removed(self, name: str) -> None:
        """A name is gone."""


@live_object(MAP_ID, title="Map")
class MapObject(DocumentProxy):
    """Shared values by name."""

    map: MapEndpoint

    _template_id = MAP_ID
    _kind = "map"

    @property
    def content(self) -> Map:
        content: Map = self.shared.document.map(CONTENT)
        return content

    def watch(self) -> list[Subscription]:
        return [self.content.observe(self._tell)]

    def _tell(self, change: MapChange) -> None:
        for name, value in change.updated.items():
            self.map.changed(name, value)
        for name in sorted(change.removed):
            self.map.removed(name)

    def on_map_connected(self) -> None:
        for name, value in sorted(self.content.to_dict().items()):
            self.map.changed(name, value)

    def on_map_set(self, name: str, value: Any) -> None:
        self.edit(lambda: self.content.set(name, value))

    def on_map_remove(self, name: str) -> None:
        self.edit(lambda: self.content.remove(name))


@endpoint_type("live-objects:counter-endpoint", provides="state channel; edited by its editors")
class CounterEndpoint:
    """A number that everybody adds to; nothing that was added is lost, whatever the order."""

    @incoming
    def add(self, amount: float) -> None:
        """Adds, or takes away."""

    @outgoing
    def value(self, value: float) -> None:
        """The sum, after it has changed and once when connected."""


@live_object(COUNTER_ID, title="Counter")
class CounterObject(DocumentProxy):
    """A shared sum."""

    counter: CounterEndpoint

    _template_id = COUNTER_ID
    _kind = "counter"

    @property
    def content(self) -> Counter:
        content: Counter = self.shared.document.counter(CONTENT)
        return content

    def watch(self) -> list[Subscription]:
        return [self.content.observe(self._tell)]

    def _tell(self, _change: CounterChange) -> None:
        self.counter.value(self.content.value)

    def on_counter_connected(self) -> None:
        self.counter.value(self.content.value)

    def on_counter_add(self, amount: float) -> None:
        self.edit(lambda: self.content.add(amount))


@endpoint_type("live-objects:log-endpoint", provides="state channel; edited by its editors")
class LogEndpoint:
    """Entries that are only ever added. While edits of others arrive, an entry may come to stand
    before ones that were told earlier; in the end all have the same order."""

    @incoming
    def append(self, entry: Any) -> None:
        """Adds an entry at the end."""

    @outgoing
    def entries(self, start: int, entries: list[Any]) -> None:
        """From `start` on, the log is now this; told from 0 when connected."""


@live_object(LOG_ID, title="Log")
class LogObject(DocumentProxy):
    """A shared list of what has happened."""

    log: LogEndpoint

    _template_id = LOG_ID
    _kind = "log"

    @property
    def content(self) -> List:
        content: List = self.shared.document.list(CONTENT)
        return content

    def watch(self) -> list[Subscription]:
        return [self.content.observe(self._tell)]

    def _tell(self, change: ListChange) -> None:
        start = change.steps[0].retain if change.steps else 0
        self.log.entries(start, self.content.to_list()[start:])

    def on_log_connected(self) -> None:
        self.log.entries(0, self.content.to_list())

    def on_log_append(self, entry: Any) -> None:
        self.edit(lambda: self.content.append(entry))
