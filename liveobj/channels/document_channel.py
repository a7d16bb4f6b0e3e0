"""Owns the join between one replicated document and one group: a feed that is pulled, deliveries
that are merged, greetings after each view, and presence.

Edits are not queued. A change only registers the intent to send; when the engine is ready,
everything written since the last message goes out as one (thesis 4.2: the pull protocol stack).
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from liveobj.channels.alarm import Alarm
from liveobj.channels.batches import Batch, BatchLog
from liveobj.channels.catch_up import CatchUp
from liveobj.channels.channel_state import ChannelState, Counters, Due
from liveobj.channels.fragments import Assembler, Cutter
from liveobj.channels.greeting_limit import GreetingLimit
from liveobj.channels.incoming import (
    UPDATE_OPERATIONS,
    UPDATE_OPERATIONS_MAX,
    Incoming,
    IncomingUpdate,
)
from liveobj.channels.introductions import Introductions
from liveobj.channels.messages import (
    BadMessage,
    Fragment,
    Greeting,
    Hello,
    Introduction,
    Marks,
    Message,
    Payload,
    PresenceUpdate,
    Update,
    decode,
    encode,
    is_limited,
)
from liveobj.channels.presence import Presence, PresenceEntry
from liveobj.channels.receipts import Receipts
from liveobj.channels.seal import NoSeal, Seal
from liveobj.channels.twin_check import MARKS_MAX, TwinCheck, pack_marks, read_marks
from liveobj.documents import BadUpdate, Change, Document, Origin, TooCostly
from liveobj.documents.version import Span
from liveobj.host import Scheduler
from liveobj.observers import Observers, Subscription
from transport.errors import Gone
from transport.identities import Identity
from transport.interfaces import Delivery, Group, View

log = logging.getLogger(__name__)

# Versions with more writers than this are greeted with by their digest.
WRITERS_TOLD_MAX = 64
# While parts of a long message arrive, what is missing is not asked for again, for so long.
POSTPONED_S_MAX = 20.0
# So long after a view, when all have the same, copies are compared once more.
TWIN_CHECK_S = 5.0
# Time for a member that goes because its copy differs to say so.
WITHDRAWAL_S = 1.0


class DocumentChannel:
    """Keeps `document` in step with the other members of `group`, until closed.

    `batches` is for one who cannot sign: it holds what was received, to be passed on as it is.
    `identity` is the user's, by which others know for sure who it is.
    """

    def __init__(
        self,
        document: Document,
        group: Group,
        scheduler: Scheduler,
        me: PresenceEntry,
        seal: Seal | None = None,
        batches: BatchLog | None = None,
        identity: Identity | None = None,
    ) -> None:
        self.document = document
        self.presence = Presence(me, self._on_my_presence, scheduler)
        self.counters = Counters()
        self._group: Group | None = None
        self._scheduler = scheduler
        self._identity = identity
        self._introductions = Introductions(group.group_id, identity)
        self._seal: Seal = seal or NoSeal()
        self._batches = None if self._seal.can_sign else batches
        self._forwarding: deque[Batch] = deque()
        self._answers: deque[Iterator[Sequence[Span]]] = deque()
        self._incoming = Incoming(scheduler, self._merge, self._on_turn)
        self._catch_up = CatchUp(group.me, scheduler.time)
        self._greeting_limit = GreetingLimit(scheduler.time)
        self._assembler = Assembler()
        self._due = Due()
        self._members: frozenset[int] = frozenset()
        self._in_company = False
        # Own operations below this have been sent, or will be sent as answers to greetings.
        self._sent_end = document.version.end(document.peer_id)
        self._receipts = Receipts(self._sent_end, self._update_state)
        self._repair = Alarm(scheduler, self._on_repair)
        self._answering = Alarm(scheduler, self._offer)
        self._all_greeted = Alarm(scheduler, self._note_handed)
        self._postponed_since: float | None = None
        self._pieces_seen = 0
        self._twins = TwinCheck(document)
        self._check_later = Alarm(scheduler, self._on_check)
        self._twin_nodes: set[int] = set()
        self._withdrawn = False
        self._left_over: list[Span] = []  # not sent yet, under an identity before this one
        # Called when another member's copy differs though it should not; whether that member is
        # senior to this one. And when another one writes under this member's identity.
        self.on_twin: Callable[[bool], None] | None = None
        self.on_same_identity: Callable[[], None] | None = None
        self._state = ChannelState()
        self._observers: Observers[ChannelState] = Observers()
        self._subscription = document.observe(self._on_change)
        self.join(group)

    @property
    def state(self) -> ChannelState:
        return self._state

    def observe(self, callback: Callable[[ChannelState], None]) -> Subscription:
        return self._observers.observe(callback)

    def join(self, group: Group) -> None:
        """Takes part in `group`, after `leave`: edits made meanwhile go out as answers to
        greetings."""
        assert self._group is None, "a channel is in one group at a time"
        self._group = group
        self._catch_up = CatchUp(group.me, self._scheduler.time)
        self._introductions = Introductions(group.group_id, self._identity)
        group.on_deliveries = self._on_deliveries
        group.on_view = self._on_view
        if group.view is not None:
            self._on_view(group.view)

    def leave(self) -> None:
        """Leaves the group; the document goes on alone. Harmless when done twice."""
        self._repair.cancel()
        self._answering.cancel()
        self._all_greeted.cancel()
        self._check_later.cancel()
        group, self._group = self._group, None
        if group is None:
            return
        group.on_deliveries = None
        group.on_view = None
        group.leave()
        self._members = frozenset()
        self._in_company = False
        self._due = Due()
        self._forwarding.clear()
        self._answers.clear()
        self._incoming.clear()
        self._catch_up.on_view(())
        self._assembler.keep_only(())
        self.presence.keep_only(())
        self.presence.close()
        self._update_state()

    def withdraw(self) -> None:
        """Takes nothing from this moment on, says only how its copy differs, and leaves soon."""
        self._withdrawn = True
        self._due.marks = False
        self._incoming.clear()
        self._scheduler.call_later(WITHDRAWAL_S, self.leave)

    def close(self) -> None:
        """Leaves for good. Harmless when done twice."""
        self._subscription.close()
        self.leave()

    def _offer(self) -> None:
        """Asks to be pulled; a timer may find out first that the engine has gone."""
        if self._group is not None:
            with suppress(Gone):
                self._group.offer(self)

    # The feed

    def pull(self, bytes_max: int) -> bytes | None:
        """The next message (see `transport.interfaces.Feed`)."""
        if self._due.outgoing is None:
            message = self._next_marks() if self._withdrawn else self._next_message()
            if message is None:
                self._note_handed()
                self._answering.set_at(self._catch_up.next_at)
                self._update_state()
                return None
            self._due.outgoing = Cutter(encode(message))
        piece = self._due.outgoing.next_piece(bytes_max)
        if piece is None:
            self._offer()  # no room now; asked again when there is
            return None
        if self._due.outgoing.finished:
            self._due.outgoing = None
            self._note_handed()
        self.counters.sent += 1
        return piece

    def _next_message(self) -> Message | None:
        if len(self._members) <= 1:
            # Nobody to tell. Who comes later greets, and is answered with what it lacks.
            self._sent_end = self._own_end()
            self._receipts.on_alone(self._sent_end)
            return None
        # Marks come first, so that copies that differ are found out before they are mixed.
        first = self._next_marks() or self._next_greeting()
        if first is not None:
            return first
        if self._due.presence and self._answers:
            return self._my_presence()  # a long answer holds nobody up
        update = (self._next_own() if self._answers else None) or self._next_answer()
        update = update or self._next_own()
        if update is not None:
            return update
        return self._my_presence() if self._due.presence else None

    def _next_greeting(self) -> Message | None:
        if self._due.hello:
            self._due.hello = False
            return self._greeting()
        if self._catch_up.wants_whole:
            whole = self._catch_up.tell_whole()
            return Hello(self.document.peer_id, whole, self._can_answer)
        if self._due.introduction:
            self._due.introduction = False
            return self._introductions.mine()
        return None

    def _next_marks(self) -> Marks | None:
        due, group = self._due, self._group
        if not (due.marks or due.replies) or group is None:
            return None
        marks, due.replies = due.replies, []
        all_due, due.marks = due.marks, False
        if not self._seal.can_sign:
            return None
        if all_due:
            writers = {self.document.peer_id, *self._catch_up.writers.values()}
            drawn_by = 0 if group.view is None else group.view.number
            marks = (marks + self._twins.marks(writers, drawn_by))[:MARKS_MAX]
        data = pack_marks(group.me, marks)
        return Marks(data, self._seal.sign(data)) if marks else None

    def _my_presence(self) -> PresenceUpdate:
        self._due.presence = False
        return PresenceUpdate(self.presence.spoken())

    def _next_answer(self) -> Update | None:
        answers = self._catch_up.answers(self.document.version, self.document.peer_id)
        if answers and self._seal.can_sign:
            self.counters.answers += 1
            self._answers.append(self.document.pieces(answers, UPDATE_OPERATIONS))
        elif answers and self._batches is not None:
            self._forwarding.extend(self._batches.overlapping(answers))
        while self._answers:
            spans = next(self._answers[0], None)
            if spans is not None:
                self._note_sent(spans)
                return self._update(spans)
            self._answers.popleft()
        if self._forwarding:
            self.counters.answers += 1
            batch = self._forwarding.popleft()
            return Update(batch.data, batch.signature)
        return None

    def _next_own(self) -> Update | None:
        if self._left_over:
            self._answers.append(self.document.pieces(self._left_over, UPDATE_OPERATIONS))
            self._left_over = []
            return self._next_answer()
        end = min(self._own_end(), self._sent_end + UPDATE_OPERATIONS)
        if self._sent_end >= end:
            return None
        span = Span(self.document.peer_id, self._sent_end, end)
        self._sent_end = end
        return self._update([span]) if self._seal.can_sign else None

    def _greeting(self) -> Hello | Greeting:
        version = self.document.version
        whole = self._due.whole or len(version.ends) <= WRITERS_TOLD_MAX
        self._due.whole = False
        self._enter_company()
        self._catch_up.greeted(version, whole=whole)
        if whole:
            return Hello(self.document.peer_id, version, self._can_answer)
        return Greeting(self.document.peer_id, version.digest, self._can_answer)

    @property
    def _can_answer(self) -> bool:
        return self._seal.can_sign or self._batches is not None

    def _enter_company(self) -> None:
        self.counters.greetings += 1
        if not self._in_company:
            # Everybody here greets after this view, and what each lacks of ours goes out as
            # answers.
            self._in_company = True
            self._sent_end = self._own_end()
            self._receipts.on_newcomers(self._sent_end)

    def _update(self, spans: Sequence[Span]) -> Update:
        data = self.document.export_spans(spans)
        return Update(data, self._seal.sign(data))

    def _note_sent(self, spans: Sequence[Span]) -> None:
        for span in spans:
            if span.peer == self.document.peer_id and span.start <= self._sent_end:
                self._sent_end = max(self._sent_end, span.end)
                self._receipts.on_answer(span.start)

    def _note_handed(self) -> None:
        """What has been pulled so far is the network's."""
        if self._group is None or len(self._members) <= 1 or self._answers:
            return
        owed, me = self._receipts.owed, self.document.peer_id
        if owed is not None and (not self._seal.can_sign or self._catch_up.all_have(me, owed)):
            self._receipts.on_greeted()
        self._receipts.on_handed(self._group, self._sent_end)

    def _own_end(self) -> int:
        return self.document.version.end(self.document.peer_id)

    # What the document and the person do

    def _on_change(self, change: Change) -> None:
        if change.origin.mine:
            self._offer()
        self._update_state()

    def _on_my_presence(self) -> None:
        self._due.presence = True
        self._offer()

    # What the group reports

    def _on_view(self, view: View) -> None:
        assert self._group is not None, "views come from the group"
        nodes = [member.node for member in view.members]
        if self._catch_up.me != self._group.me:
            # Put out of the network and admitted again: under another id, and everything is new.
            self._catch_up = CatchUp(self._group.me, self._scheduler.time)
            self._members = frozenset()
            self._in_company = False
        self._answers.clear()  # all greet again, and are answered with what they lack then
        newcomers = set(nodes) - self._members
        self._members = frozenset(nodes)
        self._twin_nodes &= self._members
        self._catch_up.on_view(nodes)
        self._greeting_limit.on_view(nodes)
        self._introductions.on_view(self._group.me, view.number, nodes)
        self._assembler.keep_only(self._members)
        self.presence.keep_only(self._members)
        if len(nodes) <= 1:
            self._in_company = False
        else:
            self._due.hello = self._due.marks = True
            self._check_later.set_within(TWIN_CHECK_S)
            if newcomers - {self._group.me}:
                self._receipts.on_newcomers(self._own_end())
                self._all_greeted.set_at(self._catch_up.greetings_until)
            self._due.presence |= bool(newcomers)
            self._due.introduction |= bool(newcomers)
        self._offer()
        self._update_state()

    def _on_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        me = None if self._group is None else self._group.me
        for delivery in deliveries:
            if delivery.sender == me or self._withdrawn:
                continue
            self.counters.received += 1
            try:
                self._take(delivery.sender, bytes(delivery.data))
            except (BadMessage, BadUpdate) as problem:
                self.counters.dropped += 1
                self._catch_up.on_damage(delivery.sender)
                log.debug("dropped a message of %x: %s", delivery.sender, problem)
            except Exception:
                # Ours, then, and no reason to take the engine's turn down with us.
                self.counters.dropped += 1
                log.exception("a message of %x could not be handled", delivery.sender)
        self._update_state()

    def _take(self, sender: int, data: bytes) -> None:
        if is_limited(data) and not self._greeting_limit.admit(sender):
            self.counters.limited += 1
            return
        message = decode(data)
        if isinstance(message, Fragment):
            self._catch_up.on_piece(sender)
            whole = self._assembler.add(sender, message)
            if whole is None:
                return
            if whole[:1] == data[:1]:
                raise BadMessage("a piece of pieces")
            self._take(sender, whole)
            return  # a whole message was made of its pieces
        self._handle(sender, message)

    def _handle(self, sender: int, message: Message) -> None:
        match message:
            case Hello(peer_id, version, can_answer):
                self._catch_up.on_hello(sender, peer_id, version, can_answer)
                self._on_greeted(peer_id)
            case Greeting():
                self._catch_up.on_greeting(sender, message, self.document.version)
                self._on_greeted(message.peer_id)
            case Marks(data, signature):
                self._take_marks(sender, data, signature)
            case Update(update, signature):
                self._incoming.add(sender, update, signature)
            case PresenceUpdate(fields):
                self.presence.accept(sender, fields)
            case Introduction():
                if self._introductions.accept(sender, message):
                    verified = self._introductions.verified(sender)
                    self.presence.set_fingerprint(sender, verified)
            case Fragment() | Payload():
                raise BadMessage("a message that has no place here")

    def _on_greeted(self, peer_id: int) -> None:
        self._watch_for_gaps()
        self._offer()
        if peer_id == self.document.peer_id and self.on_same_identity is not None:
            self.on_same_identity()

    # Two writers under one identity

    def _take_marks(self, sender: int, data: bytes, signature: bytes) -> None:
        if not self._seal.verify(data, signature):
            self.counters.refused += 1
            return
        node, marks = read_marks(data)
        if node != sender:
            raise BadMessage("marks of somebody else")
        differing, replies = self._twins.compare(marks)
        if differing:
            self.counters.twins += 1
            if sender not in self._twin_nodes:  # once: it differs for good
                self._twin_nodes.add(sender)
                self._due.replies = (self._due.replies + replies)[:MARKS_MAX]
                self._offer()
            if self.on_twin is not None:
                self.on_twin(self._catch_up.is_senior(sender))

    def _on_check(self) -> None:
        self._due.marks = True
        self._offer()

    def renew_identity(self, peer_id: int) -> None:
        """Writes under another identity from now on: another writer may have this one."""
        version, old = self.document.version, self.document.peer_id
        if self._sent_end < version.end(old) and len(self._members) > 1:
            self._left_over.append(Span(old, self._sent_end, version.end(old)))
        self.document.renew_peer_id(peer_id)
        self._sent_end = 0
        self._receipts = Receipts(0, self._update_state)
        self._due.hello = len(self._members) > 1
        self._offer()

    # Updates of others

    def _merge(self, update: IncomingUpdate) -> None:
        sender, size = update.sender, update.size
        if not self._seal.verify(update.data, update.signature):
            self.counters.refused += 1
            log.warning("refused an update of %x that no editor has signed", sender)
            return
        if not self.document.version.includes(size.start):
            self._hold(update)
            return
        try:
            self.document.check_cost(size, UPDATE_OPERATIONS_MAX)
            imported = self.document.import_update(update.data, Origin.REMOTE)
        except TooCostly as problem:
            self.counters.refused += 1
            log.warning("refused an update of %x: %s", sender, problem)
            return
        except BadUpdate as problem:
            self.counters.dropped += 1
            self._catch_up.on_damage(sender)
            log.debug("dropped an update of %x: %s", sender, problem)
            return
        self._catch_up.on_update(sender, size.start, size.end)
        if self._batches is not None and (imported.changed or imported.waiting):
            self._batches.add(update.data, update.signature)
        if imported.changed:
            self._incoming.release(self.document.version)
        if imported.changed and sender not in self._members:
            self._catch_up.answer_again()
            self._offer()
        if imported.waiting:
            self._catch_up.claims.on_pending(sender, imported.pending)
            self._watch_for_gaps()

    def _hold(self, update: IncomingUpdate) -> None:
        """What it builds on comes later, or again after a greeting."""
        if not self._incoming.hold(update):
            self.counters.dropped += 1
        self._catch_up.on_update(update.sender, update.size.start, update.size.end)
        self._catch_up.claims.on_pending(update.sender, update.size.end)
        self._watch_for_gaps()

    def _on_turn(self) -> None:
        self._update_state()
        self._offer()  # what has come may be what others lack

    # Repair: what is missing is asked for again

    def _watch_for_gaps(self) -> None:
        after_s = self._catch_up.claims.ask_after_s(self.document.version)
        if after_s is None:
            self._repair.cancel()
            self._postponed_since = None
        else:
            self._repair.set_within(after_s)

    def _on_repair(self) -> None:
        before, self._pieces_seen = self._pieces_seen, self._assembler.pieces
        now = self._scheduler.time()
        self._postponed_since = since = self._postponed_since or now
        arriving = before != self._pieces_seen and now < since + POSTPONED_S_MAX
        asks = not arriving and self._catch_up.claims.ask(self.document.version)
        if asks and len(self._members) > 1:
            self._due.hello = True
            self._due.whole |= self._catch_up.claims.wants_whole
            self._offer()
        self._watch_for_gaps()
        self._update_state()

    def _update_state(self) -> None:
        version = self.document.version
        state = ChannelState(
            people=len(self._members),
            unsent=self._receipts.missing(version.end(self.document.peer_id)),
            catching_up=bool(self._incoming) or self._catch_up.claims.lacks_something(version),
        )
        if state != self._state:
            self._state = state
            self._observers.notify(state)
