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
and comes back another id. With a journal, a member that is started again is the same as before, and
the order goes on when a majority is back. Where the journal was copied or set back, the member is
another one (`order_members`): nobody votes twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from typing import Any

import msgpack

from liveobj.channels.message_channel import MessageChannel
from liveobj.channels.messages import BadMessage
from liveobj.channels.order_journal import OrderJournal
from liveobj.channels.order_members import OrderMembers, Who, single
from liveobj.channels.order_messages import Promise, check_begin, electorates_in, integers
from liveobj.channels.order_state import MEMBERS, Entry, OrderState, Record, Seen
from liveobj.channels.order_votes import agreed_end, has_majority, next_ballot
from liveobj.observers import Observers, Subscription
from transport.errors import Gone
from transport.interfaces import Group, View

EARLY_MAX = 10_000

_DATA, _ORDER, _ACK, _BEGIN, _HEARD, _PREPARE, _PROMISE, _WHO, _DISOWN = range(1, 10)


class OrderPhase(Enum):
    """Whether messages are being ordered."""

    GATHERING = "gathering"  # the view is new; an epoch is being agreed upon
    RUNNING = "running"
    WAITING = "waiting"  # there is no majority here


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What the user of an order provides. `deliver` gets the origin's identity and a message;
    `members` the identities of a new epoch, at the same place in the order everywhere; a checkpoint
    stands for everything delivered so far, for one who comes late. `disowned` is called when this
    member has got a new identity because another one may vote under the old one."""

    deliver: Callable[[int, bytes], None]
    members: Callable[[Sequence[int]], None]
    make_checkpoint: Callable[[], bytes]
    load_checkpoint: Callable[[bytes], None]
    disowned: Callable[[], None] = lambda: None


class TotalOrder:
    """One member of an ordered channel: `start` begins, with what the journal has kept.

    `identity` is for a member that has no journal, or nothing in it; it must be fresh. Only a
    `founder` begins an order where there is none: one who comes and meets nobody cannot know
    whether there is one already, and waits.
    """

    def __init__(
        self,
        group: Group,
        identity: int,
        callbacks: Callbacks,
        *,
        founder: bool,
        journal: OrderJournal | None = None,
    ) -> None:
        self.phase = OrderPhase.GATHERING
        self._callbacks = callbacks
        self._journal = journal
        self._observers: Observers[OrderPhase] = Observers()
        kept = None if journal is None else journal.load()
        self._state = kept or OrderState()
        # Fresh numbers of this opening follow from a fresh identity.
        self._fresh, self._drawn = identity, 0
        self._token = self._draw()
        self._copied = False
        if kept is None:
            lost = journal is not None and journal.lost
            self._note(["member", identity, identity if founder and not lost else 0])
        if journal is not None:
            self._copied = kept is not None and journal.is_copy(kept)
            if self._copied:
                self._note(["disowned", self._draw()])
            self._note(["bound", journal.place.binding, self._state.starts + 1])
            journal.flush()
        state = self._state
        self._opened = Seen(state.starts, self._token, state.ballot, state.epoch, self._end)
        self._members = OrderMembers(state.seen)
        self._said: dict[int, tuple[int, Who]] = {}  # by node: in which view, who it is
        self._prepared: tuple[int, int, int] | None = None  # a proposal that waits to be judged
        self._sequencer: int | None = None
        self._next_index = 0
        self._ordered: dict[int, int] = {}  # what this member, as sequencer, has given a place
        self._acks: dict[int, dict[int, int]] = {}
        self._early: list[tuple[int, int, bytes]] = []
        self._safe_to_send = self._state.sent  # own messages up to here are on the disk
        self._heard: dict[int, tuple[int, int]] = {}  # by node: its view, and what it had promised
        self._proposed: int | None = None  # the view in which this member has proposed
        self._promises: dict[tuple[int, int], Promise] = {}  # by ballot and node
        self._view: View | None = None
        self._channel = MessageChannel(group, self._on_message, self._on_view)

    def start(self) -> None:
        """Gives its user what was delivered before, and takes part. Apart from making it, so that
        whoever is called back has it."""
        state = self._state
        if state.checkpoint_at:
            self._callbacks.load_checkpoint(state.checkpoint)
        for entry in state.log.since(state.checkpoint_at)[: state.delivered - state.checkpoint_at]:
            self._hand_out(entry)
        state.log.trim(state.delivered)
        if self._copied:
            self._callbacks.disowned()
        self._channel.start()

    @property
    def identity(self) -> int:
        """Who this member is in the order; the same after a restart, where there is a journal."""
        return self._state.identity

    def _draw(self) -> int:
        """A number that nobody else has, of 63 bits as identities are."""
        self._drawn += 1
        packed = msgpack.packb([self._fresh, self._drawn])
        return int.from_bytes(blake2b(packed, digest_size=8).digest(), "big") >> 1

    @property
    def delivered(self) -> int:
        return self._state.delivered

    def observe(self, callback: Callable[[OrderPhase], None]) -> Subscription:
        return self._observers.observe(callback)

    def send(self, payload: bytes) -> int:
        """Sends a message; returns its number among one's own. It is kept until it is delivered,
        and sent again in each epoch; with a journal also by the next start."""
        number = self._state.sent + 1
        self._note(["sent", number, payload], self._send_saved)
        return number

    def _send_saved(self) -> None:
        """Sends what is on the disk by now: a number that others have seen must not come again."""
        for number in range(self._safe_to_send + 1, self._state.sent + 1):
            self._safe_to_send = number
            payload = self._state.outstanding.get(number)
            if payload is not None and self.phase is OrderPhase.RUNNING:
                self._say(_DATA, self.identity, number, payload)

    @property
    def outstanding(self) -> int:
        return len(self._state.outstanding)

    def close(self) -> None:
        """Saves and leaves. Harmless when done twice."""
        if self._journal is not None:
            self._journal.close()
        self._channel.close()

    def _note(self, record: Record, then: Callable[[], None] | None = None) -> None:
        """Changes the state; `then` happens when the change is on the disk."""
        self._state.apply(record)
        if self._journal is not None:
            self._journal.add(record, then)
        elif then is not None:
            then()

    def _save_now(self) -> None:
        if self._journal is not None:
            self._journal.flush()

    def _say(self, kind: int, *parts: Any) -> None:
        """Says it to the group. One whose engine has gone, as its journal may find out first, has
        nobody to say it to."""
        with suppress(Gone):
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
        self._prepared = None
        self._members.on_view()
        said, self._said = self._said, {}
        for node, (number, who) in said.items():
            if number == view.number:
                self._on_who(node, number, who)
        self._enter(OrderPhase.GATHERING)
        self._say_who()
        self._say(_HEARD, view.number, self._state.ballot)
        self._propose()

    def _say_who(self) -> None:
        """Says who this member is and how far it was when it was opened: what it has done since may
        not be on the disk yet, and would be missed by others after a crash."""
        if self._view is not None:
            self._say(_WHO, self._view.number, self.identity, *self._opened)

    @property
    def _end(self) -> int:
        """How far this member's order goes; one that was disowned has none."""
        return self._state.log.end if self._state.lineage else 0

    def _on_who(self, sender: int, number: int, who: Who) -> None:
        self._said[sender] = (number, who)
        if self._view is not None and number == self._view.number:
            self._judge(sender, who)

    def _judge(self, sender: int, who: Who) -> None:
        if sender not in self._nodes():
            return  # it has gone
        for wrong in self._members.on_who(sender, who, mine=sender == self._channel.me):
            # Before this member's promise, so that whoever weighs it knows.
            self._members.disown(wrong.identity, wrong.seen.token)
            self._say(_DISOWN, wrong.identity, wrong.seen.token)

    def _on_disown(self, identity: int, token: int) -> None:
        self._members.disown(identity, token)
        if identity == self.identity and token == self._token:
            self._become_another()
        self._weigh()

    def _become_another(self) -> None:
        """Goes on under a new identity, as one that has come just now."""
        self._token = self._draw()
        self._opened = Seen(self._state.starts, self._token)
        self._sequencer = None
        self._safe_to_send = 0
        self._enter(OrderPhase.GATHERING)
        self._note(["disowned", self._draw()], self._say_again)
        self._save_now()
        self._callbacks.disowned()

    def _say_again(self) -> None:
        self._say_who()
        self._promise()

    def _on_heard(self, sender: int, number: int, ballot: int) -> None:
        self._heard[sender] = (number, ballot)
        self._propose()
        self._consider()

    def _nodes(self) -> list[int]:
        return [] if self._view is None else [member.node for member in self._view.members]

    def _propose(self) -> None:
        """The most senior member, when it knows what everybody has promised, asks for more."""
        nodes = self._nodes()
        if not nodes or nodes[0] != self._channel.me or self._view is None:
            return
        number = self._view.number
        if number != self._proposed and self._all_heard(number):
            self._proposed = number
            self._heard = {node: self._heard[node] for node in nodes}
            highest = max(ballot for _, ballot in self._heard.values())
            self._say(_PREPARE, number, next_ballot(highest, self.identity))

    def _all_heard(self, number: int) -> bool:
        return all(self._heard.get(node, (None, 0))[0] == number for node in self._nodes())

    def _on_prepare(self, sender: int, number: int, ballot: int) -> None:
        if self._view is None or number != self._view.number or sender != self._nodes()[0]:
            return  # of a view that is over
        self._prepared = (sender, number, ballot)
        self._consider()

    def _consider(self) -> None:
        """Promises what was proposed, when all here have said who they are."""
        if self._prepared is None or not self._all_heard(self._prepared[1]):
            return
        (_, _, ballot), self._prepared = self._prepared, None
        if ballot <= self._state.ballot:
            return
        # From here on nothing of an earlier epoch is acknowledged: what is promised now is all that
        # the new epoch will know.
        self._sequencer = None
        self._enter(OrderPhase.GATHERING)
        self._note(["promise", ballot], self._promise)
        self._save_now()
        self._weigh()

    def _promise(self) -> None:
        state = self._state
        self._say(
            _PROMISE,
            state.ballot,
            state.identity,
            state.lineage,
            state.epoch,
            self._end,
            state.delivered if state.lineage else 0,
            [list(electorate) for electorate in state.electorates],
        )

    def _on_promise(self, sender: int, ballot: int, promise: Promise) -> None:
        if ballot < self._state.ballot or self._view is None:
            return
        self._promises[ballot, sender] = promise
        self._members.note_progress(sender, ballot=ballot)
        self._weigh()

    def _weigh(self) -> None:
        """When all have promised: whoever is furthest begins, if there is a majority."""
        nodes, ballot = self._nodes(), self._state.ballot
        if self._state.epoch == ballot:
            return  # it has begun
        if any((ballot, node) not in self._promises for node in nodes):
            return
        promises = {node: self._promises[ballot, node] for node in nodes}
        if not all(self._members.may_vote(node, promises[node].identity) for node in nodes):
            return  # it promises again, as somebody else
        leader = max(nodes, key=lambda node: (promises[node].rank, -nodes.index(node)))
        best = promises[leader]
        present = single({node: promises[node].identity for node in nodes})
        possible = all(has_majority(electorate, present) for electorate in best.electorates)
        if not possible or not best.lineage:
            self._enter(OrderPhase.WAITING)
        elif leader == self._channel.me:
            self._begin([promises[node] for node in nodes])

    def _begin(self, promises: Sequence[Promise]) -> None:
        state = self._state
        known = [
            p for p in promises if p.lineage == state.lineage and p.delivered >= state.log.base
        ]
        start = min([state.delivered, *(p.delivered for p in known)])
        checkpoint = b"" if len(known) == len(promises) else self._callbacks.make_checkpoint()
        members = [p.identity for p in promises]
        # Who takes part has its own place in the order, so that all learn it at the same place.
        joined = Entry(MEMBERS, state.ballot, msgpack.packb(members))
        self._say(
            _BEGIN,
            state.lineage,
            state.ballot,
            [*map(list, state.electorates), members],
            start,
            [list(entry) for entry in [*state.log.since(start), joined]],
            state.delivered,
            checkpoint,
            [list(pair) for pair in state.log.counts_at(start).items()],
        )

    def _on_begin(self, sender: int, parts: Sequence[Any]) -> None:
        state = self._state
        epoch, electorates = parts[1], parts[2]
        if epoch != state.ballot or epoch <= state.epoch or self.identity not in electorates[-1]:
            return  # promised to a later one, or none of ours
        fresh = state.epoch == 0 and sender == self._channel.me
        before = state.checkpoint_at
        self._sequencer = sender
        self._note(["begin", fresh, *parts], self._acknowledge)
        if state.checkpoint_at != before:
            self._callbacks.load_checkpoint(state.checkpoint)
        self._next_index = state.log.end
        self._ordered = state.log.counts_at(self._next_index)
        self._acks = {e: acks for e, acks in self._acks.items() if e >= epoch}
        self._enter(OrderPhase.RUNNING)
        self._save_now()
        early, self._early = self._early, []
        for data in early:
            self._on_data(*data)
        for own, payload in state.outstanding.items():
            if own <= self._safe_to_send:
                self._say(_DATA, self.identity, own, payload)

    # Ordering

    def _on_data(self, origin: int, number: int, payload: bytes) -> None:
        if self._state.epoch != self._state.ballot:
            # Sent by one who knows of the new epoch before this member does.
            if len(self._early) < EARLY_MAX:
                self._early.append((origin, number, payload))
            return
        if self._sequencer != self._channel.me or origin == MEMBERS:
            return
        if number != self._ordered.get(origin, 0) + 1:
            return  # ordered already; the sender has not seen it yet
        self._ordered[origin] = number
        self._say(_ORDER, self._state.epoch, self._next_index, origin, number, payload)
        self._next_index += 1

    def _on_order(self, sender: int, epoch: int, index: int, entry: Entry) -> None:
        state = self._state
        if epoch != state.epoch or epoch != state.ballot:
            return
        if sender != self._sequencer or index != state.log.end:
            raise BadMessage("an order from somebody who does not order")
        self._note(["entry", *entry], self._acknowledge)

    def _acknowledge(self) -> None:
        """Says how far the order is on this member's disk; all of it, where there is no journal."""
        state = self._state
        if state.epoch == state.ballot:
            self._say(_ACK, state.epoch, state.identity, state.log.end)

    def _on_ack(self, sender: int, epoch: int, identity: int, end: int) -> None:
        if epoch < self._state.epoch:
            return
        acks = self._acks.setdefault(epoch, {})
        acks[identity] = max(end, acks.get(identity, 0))
        self._members.note_progress(sender, epoch=epoch, end=end)
        if epoch == self._state.epoch:
            self._deliver()

    def _deliver(self) -> None:
        state = self._state
        acks = self._acks.get(state.epoch, {})
        if all(agreed_end(electorate, acks, -1) >= 0 for electorate in state.electorates):
            state.electorates = state.electorates[-1:]  # the epoch has begun, for all that count
        ends = [agreed_end(electorate, acks, 0) for electorate in state.electorates]
        agreed = min([*ends, state.log.end])
        before = state.delivered
        while state.delivered < agreed:
            entry = state.log.entries[state.delivered - state.log.base]
            self._note(["delivered", state.delivered + 1])
            self._hand_out(entry)
        state.log.trim(state.delivered)
        if self._journal is None:
            return
        if state.delivered > before:
            self._note(["seen", self._members.news()])
        elif self._journal.wants_compaction:
            self._journal.compact(state.whole(self._callbacks.make_checkpoint()))

    def _hand_out(self, entry: Entry) -> None:
        if entry.origin == MEMBERS:
            self._callbacks.members(integers(msgpack.unpackb(entry.payload)))
        else:
            self._callbacks.deliver(entry.origin, entry.payload)

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
                self._on_ack(sender, epoch, identity, end)
            case [4, int(), int(), [*electorates], int(), [*entries], int(), bytes(), [*known]]:
                check_begin(electorates_in(electorates), entries, known)
                self._on_begin(sender, message[1:])
            case [5, int(number), int(ballot)]:
                self._on_heard(sender, number, ballot)
            case [6, int(number), int(ballot)]:
                self._on_prepare(sender, number, ballot)
            case [7, int(ballot), int(who), int(line), int(epoch), int(end), int(done), [*voters]]:
                promise = Promise(who, line, epoch, end, done, electorates_in(voters))
                self._on_promise(sender, ballot, promise)
            case [8, int(number), int(identity), *seen] if len(integers(seen)) >= len(Seen._fields):
                said = Who(identity, Seen(*integers(seen)[: len(Seen._fields)]))
                self._on_who(sender, number, said)
            case [9, int(identity), int(token), *_]:
                self._on_disown(identity, token)
            case _:
                raise BadMessage("a message that does not belong to an ordered channel")
