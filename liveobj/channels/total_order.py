"""Owns a totally ordered channel: everybody delivers the same messages in the same order, or stops.

One member, the sequencer, puts messages in order; a message is delivered when a majority of the
members of the present epoch has it. So what anybody has delivered survives the crash of any
minority, the sequencer included. It costs a second copy of each message and an acknowledgement from
each member, and a part of a divided network that has no majority waits.

After every view the most senior member proposes an epoch, with a number above all that anybody has
heard of; members promise to take part in no earlier one, and say how far they are. If a majority of
the last epoch is there, whoever is furthest begins the new one: it sends what others lack, and
orders from then on. Since two majorities overlap, a later epoch always knows what an earlier one
delivered. (This is Paxos in the clothes of view-stamped replication, with the group's views as
failure detector.)

The members of an epoch are its electorate. A new one counts alone only when a majority of it, and
of the one before, is known to have begun the epoch; until then both must agree to everything, so
that one who began an epoch that nobody else has heard of does not go on alone.

Members are known here by identities of their own, since the engine gives a node that was put out
and comes back another id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import msgpack

from liveobj.channels.message_channel import MessageChannel
from liveobj.channels.messages import BadMessage
from liveobj.observers import Observers, Subscription
from transport.interfaces import Group, View

# Delivered messages are kept for members that are a little behind; others get a checkpoint.
KEPT_ENTRIES = 1000
EARLY_MAX = 10_000
_PROPOSER_BITS = 39

_DATA, _ORDER, _ACK, _BEGIN, _HEARD, _PREPARE, _PROMISE = range(1, 8)


class OrderPhase(Enum):
    """Whether messages are being ordered."""

    GATHERING = "gathering"  # the view is new; an epoch is being agreed upon
    RUNNING = "running"
    WAITING = "waiting"  # there is no majority here


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in its place: who sent it, as which of its messages, and what."""

    origin: int
    number: int
    payload: bytes

    def plain(self) -> list[Any]:
        return [self.origin, self.number, self.payload]


@dataclass(frozen=True, slots=True)
class _Promise:
    """How far a member is, and that it takes part in no earlier epoch."""

    identity: int
    lineage: int
    epoch: int
    end: int
    delivered: int
    electorates: tuple[tuple[int, ...], ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        return (self.epoch, self.end, self.lineage)


@dataclass(slots=True)
class _Log:
    """Entries from index `base` on; `counts` says how many of each origin's are before that."""

    base: int = 0
    entries: list[Entry] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return self.base + len(self.entries)

    def since(self, index: int) -> list[Entry]:
        return self.entries[index - self.base :]

    def replace_from(self, index: int, entries: Sequence[Entry]) -> None:
        self.entries[index - self.base :] = entries

    def counts_at(self, index: int) -> dict[int, int]:
        """How many messages of each origin are in the order before `index`."""
        counts = dict(self.counts)
        for entry in self.entries[: index - self.base]:
            counts[entry.origin] = entry.number
        return counts

    def trim(self, delivered: int) -> None:
        spare = delivered - KEPT_ENTRIES - self.base
        if spare > KEPT_ENTRIES:
            self.counts = self.counts_at(self.base + spare)
            del self.entries[:spare]
            self.base += spare


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What the user of an order provides. `deliver` gets the origin's identity and a message;
    `members` the identities of a new epoch, at the same place in the order everywhere; a checkpoint
    stands for everything delivered so far, for one who comes late."""

    deliver: Callable[[int, bytes], None]
    members: Callable[[Sequence[int]], None]
    make_checkpoint: Callable[[], bytes]
    load_checkpoint: Callable[[bytes], None]


class TotalOrder:
    """One member of an ordered channel. `identity` is fresh for each opening.

    Only a `founder` begins an order where there is none: one who comes and meets nobody cannot know
    whether there is one already, and waits.
    """

    def __init__(self, group: Group, identity: int, callbacks: Callbacks, *, founder: bool) -> None:
        self.identity = identity
        self.phase = OrderPhase.GATHERING
        self.delivered = 0
        self._callbacks = callbacks
        self._observers: Observers[OrderPhase] = Observers()
        self._lineage = identity if founder else 0
        self._epoch = 0
        # The present one last; those before it until it is known to have begun.
        self._electorates: tuple[tuple[int, ...], ...] = ()
        self._log = _Log()
        self._sequencer: int | None = None
        self._next_index = 0
        self._ordered: dict[int, int] = {}  # what this member, as sequencer, has given a place
        self._acks: dict[int, dict[int, int]] = {}
        self._outstanding: dict[int, bytes] = {}
        self._early: list[tuple[int, int, bytes]] = []
        self._sent = 0
        self._ballot = 0  # the highest epoch promised
        self._heard: dict[int, tuple[int, int]] = {}  # by node: its view, and what it had promised
        self._proposed: int | None = None  # the view in which this member has proposed
        self._promises: dict[tuple[int, int], _Promise] = {}  # by ballot and node
        self._view: View | None = None
        self._channel = MessageChannel(group, self._on_message, self._on_view)
        self._channel.start()

    def observe(self, callback: Callable[[OrderPhase], None]) -> Subscription:
        return self._observers.observe(callback)

    def send(self, payload: bytes) -> int:
        """Sends a message; returns its number among one's own. It is kept until it is delivered,
        and sent again in each epoch, so it is lost only with this program."""
        self._sent += 1
        self._outstanding[self._sent] = payload
        if self.phase is OrderPhase.RUNNING:
            self._say(_DATA, self.identity, self._sent, payload)
        return self._sent

    @property
    def outstanding(self) -> int:
        return len(self._outstanding)

    def close(self) -> None:
        self._channel.close()

    def _say(self, kind: int, *parts: Any) -> None:
        self._channel.send(msgpack.packb([kind, *parts], use_bin_type=True))

    def _enter(self, phase: OrderPhase) -> None:
        if phase is not self.phase:
            self.phase = phase
            self._observers.notify(phase)

    # Views: an epoch is agreed upon

    def _on_view(self, view: View) -> None:
        self._view = view
        self._sequencer = None
        self._promises = {}
        self._enter(OrderPhase.GATHERING)
        self._say(_HEARD, view.number, self._ballot)
        self._propose()

    def _on_heard(self, sender: int, number: int, ballot: int) -> None:
        self._heard[sender] = (number, ballot)
        self._propose()

    def _nodes(self) -> list[int]:
        return [] if self._view is None else [member.node for member in self._view.members]

    def _propose(self) -> None:
        """The most senior member, when it knows what everybody has promised, asks for more."""
        nodes = self._nodes()
        if not nodes or nodes[0] != self._channel.me or self._view is None:
            return
        number = self._view.number
        heard = [self._heard.get(node, (None, 0)) for node in nodes]
        if number != self._proposed and all(view == number for view, _ in heard):
            self._proposed = number
            self._heard = {node: self._heard[node] for node in nodes}
            highest = max(ballot for _, ballot in heard)
            self._say(_PREPARE, number, next_ballot(highest, self.identity))

    def _on_prepare(self, sender: int, number: int, ballot: int) -> None:
        if self._view is None or number != self._view.number or sender != self._nodes()[0]:
            return  # of a view that is over
        if ballot <= self._ballot:
            return
        # From here on nothing of an earlier epoch is acknowledged: what is promised now is all that
        # the new epoch will know.
        self._ballot = ballot
        self._sequencer = None
        self._enter(OrderPhase.GATHERING)
        self._say(
            _PROMISE,
            ballot,
            self.identity,
            self._lineage,
            self._epoch,
            self._log.end,
            self.delivered,
            [list(electorate) for electorate in self._electorates],
        )
        self._weigh()

    def _on_promise(self, sender: int, ballot: int, promise: _Promise) -> None:
        if ballot < self._ballot or self._view is None:
            return
        self._promises[ballot, sender] = promise
        self._weigh()

    def _weigh(self) -> None:
        """When all have promised: whoever is furthest begins, if there is a majority."""
        nodes = self._nodes()
        if self._epoch == self._ballot:
            return  # it has begun
        if any((self._ballot, node) not in self._promises for node in nodes):
            return
        promises = {node: self._promises[self._ballot, node] for node in nodes}
        leader = max(nodes, key=lambda node: (promises[node].rank, -nodes.index(node)))
        best = promises[leader]
        present = [p.identity for p in promises.values()]
        possible = all(has_majority(electorate, present) for electorate in best.electorates)
        if not possible or not best.lineage:
            self._enter(OrderPhase.WAITING)
        elif leader == self._channel.me:
            self._begin([promises[node] for node in nodes])

    def _begin(self, promises: Sequence[_Promise]) -> None:
        lineage = self._lineage
        known = [p for p in promises if p.lineage == lineage and p.delivered >= self._log.base]
        start = min([self.delivered, *(p.delivered for p in known)])
        checkpoint = b"" if len(known) == len(promises) else self._callbacks.make_checkpoint()
        self._say(
            _BEGIN,
            lineage,
            self._ballot,
            [*map(list, self._electorates), [p.identity for p in promises]],
            start,
            [entry.plain() for entry in self._log.since(start)],
            self.delivered,
            checkpoint,
            list(self._log.counts_at(start).items()),
        )

    def _on_begin(self, sender: int, parts: Sequence[Any]) -> None:
        lineage, epoch, electorates, start, plain, index, checkpoint, counts = parts
        if epoch != self._ballot or epoch <= self._epoch or self.identity not in electorates[-1]:
            return  # promised to a later one, or none of ours
        entries = [Entry(*item) for item in plain]
        fresh_start = self._epoch == 0 and sender == self._channel.me
        if fresh_start or (self._lineage == lineage and start <= self.delivered):
            # What is before this member's log was delivered here, so it is the same.
            known = max(0, self._log.base - start)
            self._log.replace_from(start + known, entries[known:])
        else:
            self._callbacks.load_checkpoint(checkpoint)
            self.delivered = index
            missed = _Log(start, entries, dict(counts))
            self._log = _Log(index, missed.since(index), missed.counts_at(index))
        self._lineage, self._epoch, self._sequencer = lineage, epoch, sender
        self._electorates = tuple(map(tuple, electorates))
        self._next_index = self._log.end
        self._ordered = self._log.counts_at(self._next_index)
        self._acks = {e: acks for e, acks in self._acks.items() if e >= epoch}
        self._enter(OrderPhase.RUNNING)
        self._callbacks.members(self._electorates[-1])
        self._acknowledge()
        early, self._early = self._early, []
        for data in early:
            self._on_data(*data)
        for own, payload in self._outstanding.items():
            self._say(_DATA, self.identity, own, payload)

    # Ordering

    def _on_data(self, origin: int, number: int, payload: bytes) -> None:
        if self._epoch != self._ballot:
            # Sent by one who knows of the new epoch before this member does.
            if len(self._early) < EARLY_MAX:
                self._early.append((origin, number, payload))
            return
        if self._sequencer != self._channel.me:
            return
        if number != self._ordered.get(origin, 0) + 1:
            return  # ordered already; the sender has not seen it yet
        self._ordered[origin] = number
        self._say(_ORDER, self._epoch, self._next_index, origin, number, payload)
        self._next_index += 1

    def _on_order(self, sender: int, epoch: int, index: int, entry: Entry) -> None:
        if epoch != self._epoch or epoch != self._ballot:
            return
        if sender != self._sequencer or index != self._log.end:
            raise BadMessage("an order from somebody who does not order")
        self._log.entries.append(entry)
        self._acknowledge()

    def _acknowledge(self) -> None:
        self._say(_ACK, self._epoch, self.identity, self._log.end)

    def _on_ack(self, epoch: int, identity: int, end: int) -> None:
        if epoch < self._epoch:
            return
        acks = self._acks.setdefault(epoch, {})
        acks[identity] = max(end, acks.get(identity, 0))
        if epoch == self._epoch:
            self._deliver()

    def _deliver(self) -> None:
        acks = self._acks.get(self._epoch, {})
        if all(agreed_end(electorate, acks, -1) >= 0 for electorate in self._electorates):
            self._electorates = self._electorates[-1:]  # the epoch has begun, for all that count
        ends = [agreed_end(electorate, acks, 0) for electorate in self._electorates]
        agreed = min([*ends, self._log.end])
        while self.delivered < agreed:
            entry = self._log.entries[self.delivered - self._log.base]
            self.delivered += 1
            if entry.origin == self.identity:
                self._outstanding.pop(entry.number, None)
            self._callbacks.deliver(entry.origin, entry.payload)
        self._log.trim(self.delivered)

    # Messages

    def _on_message(self, sender: int, data: bytes) -> None:
        try:
            message = msgpack.unpackb(data, raw=False, max_ext_len=0)
        except Exception as problem:
            raise BadMessage(f"a body that cannot be unpacked ({problem})") from None
        match message:
            case [1, int(origin), int(number), bytes(payload)]:
                self._on_data(origin, number, payload)
            case [2, int(epoch), int(index), int(origin), int(number), bytes(payload)]:
                self._on_order(sender, epoch, index, Entry(origin, number, payload))
            case [3, int(epoch), int(identity), int(end)]:
                self._on_ack(epoch, identity, end)
            case [4, int(), int(), [*electorates], int(), [*entries], int(), bytes(), [*known]]:
                _check_begin(_lists(electorates), entries, known)
                self._on_begin(sender, message[1:])
            case [5, int(number), int(ballot)]:
                self._on_heard(sender, number, ballot)
            case [6, int(number), int(ballot)]:
                self._on_prepare(sender, number, ballot)
            case [7, int(ballot), int(who), int(line), int(epoch), int(end), int(done), [*voters]]:
                promise = _Promise(who, line, epoch, end, done, _lists(voters))
                self._on_promise(sender, ballot, promise)
            case _:
                raise BadMessage("a message that does not belong to an ordered channel")


def agreed_end(electorate: Sequence[int], acks: Mapping[int, int], nothing: int) -> int:
    """How far a majority of the electorate has acknowledged; `nothing` stands for no answer."""
    answers = {identity: acks.get(identity, nothing) for identity in electorate}
    for end in sorted(set(answers.values()), reverse=True):
        if has_majority(electorate, [i for i, answer in answers.items() if answer >= end]):
            return end
    return nothing


def next_ballot(highest: int, proposer: int) -> int:
    """A number above `highest` that nobody else proposes: two sides of a divided network count
    alike, so the proposer's identity is in it (as much of it as fits; identities are random)."""
    return ((highest >> _PROPOSER_BITS) + 1 << _PROPOSER_BITS) | (
        proposer & ((1 << _PROPOSER_BITS) - 1)
    )


def has_majority(electorate: Sequence[int], present: Sequence[int]) -> bool:
    """More than half of those who were there; of exactly half, the one with the most senior."""
    there = sum(1 for identity in electorate if identity in present)
    if 2 * there == len(electorate):
        return bool(electorate) and electorate[0] in present
    return 2 * there > len(electorate)


def _integers(items: Sequence[object]) -> tuple[int, ...]:
    if not all(isinstance(item, int) for item in items):
        raise BadMessage("identities that are no numbers")
    return tuple(item for item in items if isinstance(item, int))


def _lists(items: Sequence[object]) -> tuple[tuple[int, ...], ...]:
    found = tuple(_integers(item) for item in items if isinstance(item, list))
    if len(found) != len(items) or not all(found):
        raise BadMessage("electorates that are none")
    return found


def _check_begin(
    electorates: Sequence[Sequence[int]], entries: Sequence[object], known: Sequence[object]
) -> None:
    if not electorates:
        raise BadMessage("an epoch of nobody")
    for entry in entries:
        match entry:
            case [int(), int(), bytes()]:
                continue
        raise BadMessage("an entry that is none")
    for pair in known:
        match pair:
            case [int(), int()]:
                continue
        raise BadMessage("a count that is none")
