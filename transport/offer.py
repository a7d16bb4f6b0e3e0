"""Owns the feeds of one group: which is asked next, what it may answer, and what the engine is told
of them.

C asks (`pull_next`), so nothing here raises into C: a feed that fails is withdrawn and reported.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transport import binding
from transport.errors import BadArgument, FeedFailed
from transport.interfaces import Feed

if TYPE_CHECKING:
    from transport.group import Group


class Offer:
    """The feeds of one group, as the engine sees them: one thing to pull from.

    More urgent feeds are asked first; equally urgent ones take turns.
    """

    __slots__ = ("_again", "_feeds", "_group", "_node", "_number", "_pulling", "_registered")

    def __init__(self, group: Group) -> None:
        self._group = group
        self._node = group.node_of_group
        self._number = binding.new_number()
        self._feeds: list[tuple[int, Feed]] = []
        self._pulling: Feed | None = None
        self._again = False
        # The priority under which the engine knows of it; None: the engine does not.
        self._registered: int | None = None

    def add(self, feed: Feed, priority: int) -> None:
        if feed is self._pulling:
            # It offers itself while it is asked: whatever it answers now, it is to be asked again.
            self._again = True
        elif not any(known is feed for _, known in self._feeds):
            self._insert(feed, priority)
            self._node.when_possible(self._register)

    def withdraw(self, feed: Feed) -> None:
        self._feeds = [offered for offered in self._feeds if offered[1] is not feed]

    def begin_again(self) -> None:
        """Another engine asks, under another number: the one before gets nothing any more."""
        binding.forget(self._number)
        self._number = binding.new_number()
        self._registered = None
        self._node.when_possible(self._register)

    def close(self) -> None:
        self._feeds.clear()
        binding.forget(self._number)

    def _insert(self, feed: Feed, priority: int) -> None:
        place = len(self._feeds)
        while place and self._feeds[place - 1][0] > priority:
            place -= 1
        self._feeds.insert(place, (priority, feed))

    def _register(self) -> None:
        handle = self._group.handle
        if handle is None or not self._feeds:
            return
        priority = self._feeds[0][0]
        if self._registered is None or priority < self._registered:
            self._registered = priority
            binding.offer(handle, self._number, self, priority)
            self._node.wake()

    def pull_next(self, bytes_max: int, count_max: int) -> binding.Pulled | None:
        """The next messages of the first feed that has any. Called by C; must not raise."""
        pulled = self._pull_first(bytes_max, count_max)
        if pulled is not None:
            self._node.keep(pulled)
        return pulled

    def _pull_first(self, bytes_max: int, count_max: int) -> binding.Pulled | None:
        node = self._node
        again: list[tuple[int, Feed]] = []
        pulled = None
        node.pulling += 1
        try:
            while pulled is None and self._feeds:
                offered = self._feeds.pop(0)
                pulled = self._ask(offered[1], bytes_max, count_max)
                if pulled is not None:
                    if self._feeds:
                        self._insert(offered[1], offered[0])
                    else:
                        self._feeds.append(offered)
                    # The usual case, a hundred thousand times a second.
                    if not again:
                        return pulled
                elif self._again:
                    again.append(offered)
            if pulled is None:
                self._registered = None
            for priority, feed in again:
                self._insert(feed, priority)
            if again:
                node.when_possible(self._register)
        finally:
            node.pulling -= 1
        return pulled

    def _ask(self, feed: Feed, bytes_max: int, count_max: int) -> binding.Pulled | None:
        node = self._node
        self._pulling, self._again = feed, False
        try:
            pull_many = getattr(feed, "pull_many", None)
            if pull_many is not None:
                return _packed_all(pull_many(count_max, bytes_max), bytes_max, count_max)
            data = feed.pull(bytes_max)
            return None if data is None else _packed(data, bytes_max)
        except Exception as problem:
            self._again = False
            self._group.report(
                FeedFailed(
                    f"A feed failed and was withdrawn: {short(problem)}.",
                    group=self._group.group_id,
                    feed=type(feed).__qualname__,
                ),
                problem,
            )
            return None
        except BaseException as problem:
            # C is between here and whoever must see this; it is raised when C has returned.
            self._again = True
            node.escape(problem)
            return None
        finally:
            self._pulling = None


def _packed(data: bytes, bytes_max: int) -> binding.Pulled:
    if not isinstance(data, bytes):
        raise BadArgument(f"a feed gave {type(data).__name__} where bytes were expected")
    size = len(data)
    if size > bytes_max:
        raise BadArgument(f"a feed gave {size} bytes where {bytes_max} were asked for")
    return data, array("I", (size,))


def _packed_all(messages: Sequence[bytes], bytes_max: int, count_max: int) -> binding.Pulled | None:
    if len(messages) > count_max:
        raise BadArgument(f"a feed gave {len(messages)} messages where {count_max} were asked for")
    if not messages:
        return None
    # Each is looked at as seldom as can be: this is done a million times a second.
    if set(map(type, messages)) != {bytes}:
        for data in messages:
            _packed(data, bytes_max)
    sizes = list(map(len, messages))
    if max(sizes) > bytes_max:
        _packed(messages[sizes.index(max(sizes))], bytes_max)
    return b"".join(messages), array("I", sizes)


def short(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {problem}".rstrip(".: ")
