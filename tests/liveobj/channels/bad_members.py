"""Members that misbehave on purpose, among honest ones, in the simulator: each behaviour is a
channel whose messages are withheld, held up or changed on their way out."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from liveobj.capabilities import EditSeal, ObjectKeys, new_object_keys
from liveobj.channels import DocumentChannel, PresenceEntry
from liveobj.channels.batches import BatchLog
from liveobj.channels.messages import (
    Fragment,
    Greeting,
    Hello,
    Introduction,
    Message,
    Update,
    encode,
)
from liveobj.documents import Document, Origin
from liveobj.documents.version import Version
from liveobj.host import Scheduler
from tests.liveobj.simulated import SimulatedOffice
from transport.interfaces import Group
from transport.simulation import Link, SimulatedEngine

GROUP = b"misbehaviour 16b"
IMPOSSIBLE = 1_000_000
SLOW_S = 8.0
FLOOD_S = 0.05
DRIP_S = 0.4


class Member(DocumentChannel):
    """An honest one, or the base of one that is not. `said` counts the kinds of its messages,
    `heard_greetings` what got through to it, by sender."""

    def __init__(
        self,
        document: Document,
        group: Group,
        scheduler: Scheduler,
        keys: ObjectKeys,
        kept: Update | None = None,
    ) -> None:
        self.said: dict[str, int] = {}
        self.heard_greetings: dict[int, int] = {}
        self.keys = keys
        seal = EditSeal(keys.verify, keys.signing)
        batches = None if seal.can_sign else BatchLog()
        if kept is not None:
            document.import_update(kept.data, Origin.STORED)
            if batches is not None:
                batches.add(kept.data, kept.signature, saved=True)
        entry = PresenceEntry("somebody", "#102030")
        super().__init__(document, group, scheduler, entry, seal, batches)

    @property
    def text(self) -> str:
        return str(self.document.text("text"))

    def type(self, text: str) -> None:
        target = self.document.text("text")
        target.insert(target.length, text)

    def _handle(self, sender: int, message: Message) -> None:
        if isinstance(message, Hello | Greeting):
            self.heard_greetings[sender] = self.heard_greetings.get(sender, 0) + 1
        super()._handle(sender, message)

    def _next_message(self) -> Message | None:
        message = super()._next_message()
        if message is not None:
            message = self.bend(message)
        if message is not None:
            kind = type(message).__name__
            self.said[kind] = self.said.get(kind, 0) + 1
        return message

    def bend(self, message: Message) -> Message | None:
        """What is said in place of `message`; the rest of the turn falls out with it."""
        return message


class Silent(Member):
    """Joins and says nothing at all: hung, or of a version whose messages nobody understands."""

    def bend(self, message: Message) -> Message | None:
        return None


class Liar(Member):
    """Says what it has, and never sends it."""

    def bend(self, message: Message) -> Message | None:
        return None if isinstance(message, Update) else message


class Boaster(Member):
    """Claims what nobody has."""

    def bend(self, message: Message) -> Message | None:
        if isinstance(message, Hello):
            ends = {**message.version.ends, 5: IMPOSSIBLE}
            for peer in message.version.ends:
                ends[peer] += IMPOSSIBLE
            return Hello(message.peer_id, Version(ends), True)
        if isinstance(message, Greeting):
            return Greeting(message.peer_id, bytes(16), True)
        return None if isinstance(message, Update) else message


class Garbler(Member):
    """Answers with damaged bytes."""

    def bend(self, message: Message) -> Message | None:
        if not isinstance(message, Update):
            return message
        middle = len(message.data) // 2
        changed = bytes([message.data[middle] ^ 0x55])
        return Update(message.data[:middle] + changed + message.data[middle + 1 :], b"x" * 64)


class Dripper(Member):
    """Begins to answer and goes on for ever, a byte at a time."""

    _offset = 0

    def bend(self, message: Message) -> Message | None:
        if not isinstance(message, Update):
            return message
        if self._offset == 0:
            self._offset = 1
            self._scheduler.call_later(DRIP_S, self._drip)
            return Fragment(0, 100_000, b"x")
        return None

    def _drip(self) -> None:
        if self._group is not None:
            self._group.send(encode(Fragment(self._offset, 100_000, b"x")))
            self._offset += 1
            self._scheduler.call_later(DRIP_S, self._drip)


class Whisperer(Member):
    """Greets with digests and never says what is behind them."""

    def bend(self, message: Message) -> Message | None:
        if isinstance(message, Hello):
            return Greeting(message.peer_id, message.version.digest, message.can_answer)
        return None if isinstance(message, Update) else message


class Impostor(Member):
    """Says that it writes under the identity of whoever has written most, and sends nothing."""

    def bend(self, message: Message) -> Message | None:
        ends = self.document.version.ends
        if isinstance(message, Hello | Greeting) and ends:
            peer = max(ends, key=lambda peer: ends[peer])
            return Hello(peer, self.document.version, True)
        return None if isinstance(message, Update) else message


class Slow(Member):
    """Says everything, long after it should have."""

    def _offer(self) -> None:
        if self._group is not None:
            self._scheduler.call_later(SLOW_S, super()._offer)


class Flooder(Member):
    """Asks for everything, again and again, and sends nothing."""

    def join(self, group: Group) -> None:
        super().join(group)
        self._scheduler.call_later(FLOOD_S, self._flood)

    def _flood(self) -> None:
        if self._group is not None:
            if len(self._members) > 1:
                self._group.send(encode(Hello(self.document.peer_id, Version(), False)))
            self._scheduler.call_later(FLOOD_S, self._flood)

    def bend(self, message: Message) -> Message | None:
        return None if isinstance(message, Update | Hello | Introduction) else message


BEHAVIOURS: dict[str, type[Member]] = {
    kind.__name__.lower(): kind
    for kind in (
        Silent,
        Liar,
        Boaster,
        Garbler,
        Dripper,
        Whisperer,
        Impostor,
        Slow,
        Flooder,
    )
}


class MixedOffice(SimulatedOffice):
    """Members of one group, who come one after the other, the most senior first."""

    def __init__(self, folder: Path, nodes: int, seed: int = 1, link: Link | None = None) -> None:
        super().__init__(folder, nodes, seed, link)
        self.engines = self._by_seniority()
        self.keys = new_object_keys(random.Random(seed).randbytes)
        self.kept: Update | None = None
        self.members: list[Member] = []
        self.honest: list[Member] = []

    def _by_seniority(self) -> list[SimulatedEngine]:
        """The engines as their views list them."""
        groups = [engine.join(b"to find seniors.", bytes(32)) for engine in self.engines]

        def met() -> bool:
            return all(g.view is not None and len(g.view.members) == len(groups) for g in groups)

        self.until(met)
        assert groups[0].view is not None
        nodes = [member.node for member in groups[0].view.members]
        for group in groups:
            group.leave()
        return sorted(self.engines, key=lambda engine: nodes.index(engine.node or 0))

    def write_before(self, *texts: str) -> None:
        """Writers who have gone before anybody came; who is `kept` has what they wrote."""
        document = Document(90)
        for number, text in enumerate(texts):
            other = Document(80 + number)
            other.text("text").insert(0, text)
            document.import_update(other.export_since(Version()))
        data = document.export_since(Version())
        self.kept = Update(data, EditSeal(self.keys.verify, self.keys.signing).sign(data))

    def join(
        self, kind: type[Member] = Member, *, editor: bool = True, kept: bool = False
    ) -> Member:
        """The next node joins, and is in one view with all before it when this returns."""
        member = self._join_one(kind, editor=editor, kept=kept)
        self.until(self.together)
        return member

    def join_all(self, count: int, *, kept: bool = False) -> None:
        """So many honest editors join at once."""
        for _ in range(count):
            self._join_one(Member, editor=True, kept=kept)
        self.until(self.together)

    def _join_one(self, kind: type[Member], *, editor: bool, kept: bool) -> Member:
        number = len(self.members)
        group = self.engines[number].join(GROUP, self.keys.group)
        keys = self.keys if editor else ObjectKeys(self.keys.verify, self.keys.group, None)
        document = Document(100 + number, editable=editor)
        member = kind(document, group, self.simulation, keys, self.kept if kept else None)
        self.members.append(member)
        if kind is Member:
            self.honest.append(member)
        return member

    def together(self) -> bool:
        here = [m for m in self.members if m._group is not None]
        return all(len(m._members) == len(here) for m in here)

    def agree(self, text: str | None = None) -> bool:
        """Whether all honest members hold the same text (that one, if given)."""
        texts = {member.text for member in self.honest}
        return len(texts) == 1 and (text is None or texts == {text})

    def run(self, seconds: float) -> None:
        self.simulation.run_for(seconds)

    def said(self, kind: str, among: Callable[[Member], bool] = lambda _: True) -> int:
        return sum(member.said.get(kind, 0) for member in self.members if among(member))
