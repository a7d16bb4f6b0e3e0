"""Owns what a member of an ordered channel must not forget: the order so far, its promises, what it
has sent.

Every change is a record of plain values, which `apply` carries out; so the same records, read back
from the disk, lead to the same state. It sends nothing and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from liveobj.channels.messages import BadMessage

# Delivered messages are kept for members that are a little behind; others get a checkpoint.
KEPT_ENTRIES = 1000
# The origin of entries that are no messages: those who take part from there on in the order.
MEMBERS = 0
# Of how many others it is kept what was seen of them.
SEEN_MAX = 256

Record = list[Any]


class Entry(NamedTuple):
    """A message in its place: who sent it, as which of its messages, and what."""

    origin: int
    number: int
    payload: bytes


@dataclass(slots=True)
class OrderLog:
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


class Seen(NamedTuple):
    """What others have seen of a member: which of its starts, by which token, and how far it was:
    the highest ballot that it promised, and what it acknowledged."""

    starts: int
    token: int
    ballot: int = 0
    epoch: int = 0
    end: int = 0

    def merged(self, ballot: int = 0, epoch: int = 0, end: int = 0) -> Seen:
        epoch, end = max((self.epoch, self.end), (epoch, end))
        return Seen(self.starts, self.token, max(self.ballot, ballot), epoch, end)

    def is_ahead_of(self, other: Seen) -> bool:
        """Whether `other`, which says to be the same at a later start, has forgotten something."""
        return (
            other.starts <= self.starts
            or other.ballot < self.ballot
            or (other.epoch, other.end) < (self.epoch, self.end)
        )


@dataclass(slots=True)
class OrderState:
    """`identity` is who this member is in the order; `lineage` says which order, 0 for none yet;
    `epoch` is the one it takes part in, `ballot` the highest that it has promised to take part in.
    `electorates` ends with the members of the epoch; those before it count until it is known to
    have begun. `checkpoint` stands for the first `checkpoint_at` entries. `binding` names the file
    and machine to which the copy on disk belongs, `starts` counts its openings; `seen` is what is
    known of others, so that a member that was set back is found out."""

    identity: int = 0
    lineage: int = 0
    epoch: int = 0
    ballot: int = 0
    electorates: tuple[tuple[int, ...], ...] = ()
    log: OrderLog = field(default_factory=OrderLog)
    delivered: int = 0
    sent: int = 0
    outstanding: dict[int, bytes] = field(default_factory=dict)
    checkpoint: bytes = b""
    checkpoint_at: int = 0
    binding: bytes = b""
    written_at: float = 0.0
    starts: int = 0
    seen: dict[int, Seen] = field(default_factory=dict)

    def apply(self, record: Record) -> None:
        """Carries out one change; raises BadMessage for what is none, and then is of no use any
        more."""
        try:
            self._apply(record)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as problem:
            raise BadMessage(f"a record whose parts are wrong ({problem})") from None

    def _apply(self, record: Record) -> None:
        match record:
            case ["member", int(identity), int(lineage)]:
                self.identity, self.lineage = identity, lineage
            case ["promise", int(ballot)]:
                self.ballot = max(self.ballot, ballot)
            case ["begin", bool(fresh), *parts] if len(parts) == 8:
                self._begin(fresh, *parts)
            case ["entry", int(origin), int(number), bytes(payload)]:
                self.log.entries.append(Entry(origin, number, payload))
            case ["delivered", int(index)] if self.delivered <= index <= self.log.end:
                self._deliver(index)
            case ["sent", int(number), bytes(payload)]:
                self.sent = number
                self.outstanding[number] = payload
            case ["bound", bytes(binding), int(starts)]:
                self.binding, self.starts = binding, starts
            case ["at", float(seconds)]:
                self.written_at = seconds
            case ["disowned", int(identity)]:
                self._disown(identity)
            case ["seen", [*members]]:
                self._note_seen(members)
            case ["whole", dict(fields)]:
                self._load(fields)
            case _:
                raise BadMessage("a record that does not belong to an order")

    def _begin(
        self,
        fresh: bool,
        lineage: int,
        epoch: int,
        electorates: Sequence[Sequence[int]],
        start: int,
        entries: Sequence[Sequence[Any]],
        index: int,
        checkpoint: bytes,
        counts: Sequence[Sequence[int]],
    ) -> None:
        """An epoch begins: with `entries` from `start` on, or, where those before are missing, with
        a checkpoint for all below `index`."""
        read = [Entry(*entry) for entry in entries]
        if fresh or (self.lineage == lineage and start <= self.delivered):
            # What is before this member's log was delivered here, so it is the same.
            known = max(0, self.log.base - start)
            self.log.replace_from(start + known, read[known:])
        else:
            missed = OrderLog(start, read, {pair[0]: pair[1] for pair in counts})
            self.log = OrderLog(index, missed.since(index), missed.counts_at(index))
            self.delivered = self.checkpoint_at = index
            self.checkpoint = checkpoint
            # Of this member's own messages, those that the checkpoint stands for are delivered.
            done = self.log.counts.get(self.identity, 0)
            self.outstanding = {n: p for n, p in self.outstanding.items() if n > done}
        self.lineage, self.epoch = lineage, epoch
        self.electorates = tuple(map(tuple, electorates))
        self.ballot = max(self.ballot, epoch)

    def _disown(self, identity: int) -> None:
        """Another member may go on as the one that this was. What was delivered stays to be read;
        the rest is learnt again from those who order."""
        self.identity, self.lineage, self.epoch = identity, 0, 0
        self.electorates = ()
        self.sent, self.outstanding = 0, {}

    def _note_seen(self, members: Sequence[Sequence[int]]) -> None:
        for identity, *rest in members:
            self.seen.pop(identity, None)  # the newest at the end
            self.seen[identity] = Seen(*rest)
        while len(self.seen) > SEEN_MAX:
            del self.seen[next(iter(self.seen))]

    def _deliver(self, index: int) -> None:
        for entry in self.log.entries[self.delivered - self.log.base : index - self.log.base]:
            if entry.origin == self.identity:
                self.outstanding.pop(entry.number, None)
        self.delivered = index

    # The whole state as one record, in place of all before it

    def whole(self, checkpoint: bytes) -> Record:
        """`checkpoint` stands for everything delivered."""
        fields: Mapping[str, Any] = {
            "identity": self.identity,
            "lineage": self.lineage,
            "epoch": self.epoch,
            "ballot": self.ballot,
            "electorates": [list(electorate) for electorate in self.electorates],
            "base": self.log.base,
            "entries": [list(entry) for entry in self.log.entries],
            "counts": [list(pair) for pair in self.log.counts.items()],
            "delivered": self.delivered,
            "sent": self.sent,
            "outstanding": [list(pair) for pair in self.outstanding.items()],
            "checkpoint": checkpoint,
            "binding": self.binding,
            "starts": self.starts,
            "seen": [[identity, *seen] for identity, seen in self.seen.items()],
        }
        return ["whole", fields]

    def _load(self, fields: Mapping[str, Any]) -> None:
        self.identity, self.lineage = fields["identity"], fields["lineage"]
        self.epoch, self.ballot = fields["epoch"], fields["ballot"]
        self.electorates = tuple(map(tuple, fields["electorates"]))
        entries = [Entry(*entry) for entry in fields["entries"]]
        self.log = OrderLog(fields["base"], entries, dict(fields["counts"]))
        self.delivered = self.checkpoint_at = fields["delivered"]
        self.sent, self.outstanding = fields["sent"], dict(fields["outstanding"])
        self.checkpoint = fields["checkpoint"]
        # Journals of version 0.1 have none of these.
        self.binding, self.starts = fields.get("binding", b""), fields.get("starts", 0)
        self._note_seen(fields.get("seen", []))
