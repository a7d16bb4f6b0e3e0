"""The messages of a chat as rows: sorted, grouped by author and day, newest part first.

Only the newest rows are in the model at first; older ones come when somebody scrolls to them. What
arrives in one frame is taken together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from liveobj.documents import MapChange
from liveobj.documents.observing import Plain
from liveobj.objects.chat import Chat, Message, read_message
from widgets.language import tr

PAGE_ROWS = 200
_GROUP_GAP_MS = 5 * 60_000
# Before this a stamp is not a time, but the counting of a machine without a clock.
_FIRST_TIME_MS = 946_684_800_000

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """A message with what its neighbours make of it. `answered` is the message it replies to."""

    message: Message
    starts_group: bool
    starts_day: bool
    first_unread: bool
    answered: Message | None
    mine: bool


def time_of(message: Message) -> datetime | None:
    """The local time of a message; None if it was written without a clock."""
    if message.stamp < _FIRST_TIME_MS:
        return None
    return datetime.fromtimestamp(message.stamp / 1000).astimezone()


def day_of(message: Message) -> date | None:
    time = time_of(message)
    return None if time is None else time.date()


class ChatModel(QAbstractListModel):
    """Attributes: `unread_after`, the place of the last message that was read, or None."""

    def __init__(self, chat: Chat, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chat = chat
        self._messages = {message.identity: message for message in chat.all()}
        self._places = sorted(message.place for message in self._messages.values())
        self._start = max(0, len(self._places) - PAGE_ROWS)
        self._waiting: dict[str, Plain] = {}
        self.unread_after: tuple[int, str] | None = None

    # What is in it

    @property
    def total(self) -> int:
        return len(self._places)

    @property
    def last(self) -> Message | None:
        return self._messages[self._places[-1][1]] if self._places else None

    def message(self, identity: str) -> Message | None:
        return self._messages.get(identity)

    def row(self, number: int) -> Row:
        """The row of that number among those that are in the model."""
        at = self._start + number
        message = self._messages[self._places[at][1]]
        before = self._messages[self._places[at - 1][1]] if at else None
        unread = self.unread_after
        day = day_of(message)
        starts_day = day is not None and (before is None or day_of(before) != day)
        first_unread = (
            unread is not None
            and message.place > unread
            and (before is None or before.place <= unread)
        )
        return Row(
            message,
            starts_group=starts_day
            or first_unread
            or before is None
            or bool(message.reply_to)
            or before.author != message.author
            or before.name != message.name
            or message.stamp - before.stamp > _GROUP_GAP_MS,
            starts_day=starts_day,
            first_unread=first_unread,
            answered=self._messages.get(message.reply_to),
            mine=message.author == self._chat.me,
        )

    def number_of(self, identity: str) -> int | None:
        """In which row a message is; None if it is not in the model yet, or not at all."""
        message = self._messages.get(identity)
        if message is None:
            return None
        at = bisect_left(self._places, message.place)
        return at - self._start if at >= self._start else None

    def last_mine(self) -> Message | None:
        """One's own newest message that can be edited, among the rows of the model."""
        for place in reversed(self._places[self._start :]):
            message = self._messages[place[1]]
            if self._chat.may_change(message):
                return message
        return None

    def unread_count(self) -> int:
        if self.unread_after is None:
            return 0
        newer = self._places[bisect_right(self._places, self.unread_after) :]
        return sum(1 for place in newer if self._messages[place[1]].author != self._chat.me)

    @property
    def has_earlier(self) -> bool:
        return self._start > 0

    def show_earlier(self) -> None:
        """Takes one more page of older messages into the model."""
        count = min(PAGE_ROWS, self._start)
        if not count:
            return
        self.beginInsertRows(QModelIndex(), 0, count - 1)
        self._start -= count
        self.endInsertRows()
        self._tell_neighbour(self._start + count)

    # Changes

    def take(self, change: MapChange) -> None:
        """Keeps a change until `apply`."""
        self._waiting.update(change.updated)
        self._waiting.update(dict.fromkeys(change.removed))

    def apply(self) -> list[Message]:
        """Shows what has come since the last time; gives the messages that are new."""
        waiting, self._waiting = self._waiting, {}
        if len(waiting) > PAGE_ROWS:
            return self._apply_all(waiting)
        new = []
        for identity, value in waiting.items():
            message = read_message(identity, value)
            old = self._messages.get(identity)
            if message == old:
                continue
            if old is not None and (message is None or message.place != old.place):
                self._take_out(old)
            if message is None:
                continue
            if identity in self._messages:
                self._messages[identity] = message
                self._tell_changed([message.place])
            else:
                self._put_in(message)
                new.append(message)
        return new

    def _apply_all(self, waiting: dict[str, Plain]) -> list[Message]:
        """The same for very many: the rows begin anew, with the newest page."""
        self.beginResetModel()
        new = []
        for identity, value in waiting.items():
            message = read_message(identity, value)
            if message is not None and identity not in self._messages:
                new.append(message)
            if message is None:
                self._messages.pop(identity, None)
            else:
                self._messages[identity] = message
        self._places = sorted(message.place for message in self._messages.values())
        self._start = max(0, len(self._places) - PAGE_ROWS)
        self.endResetModel()
        return new

    def _take_out(self, message: Message) -> None:
        at = bisect_left(self._places, message.place)
        if at < self._start:
            self._start -= 1
            del self._places[at], self._messages[message.identity]
            return
        self.beginRemoveRows(QModelIndex(), at - self._start, at - self._start)
        del self._places[at], self._messages[message.identity]
        self.endRemoveRows()
        self._tell_neighbour(at)

    def _put_in(self, message: Message) -> None:
        at = bisect_left(self._places, message.place)
        if at < self._start:
            self._start += 1
            self._places.insert(at, message.place)
            self._messages[message.identity] = message
            return
        self.beginInsertRows(QModelIndex(), at - self._start, at - self._start)
        self._places.insert(at, message.place)
        self._messages[message.identity] = message
        self.endInsertRows()
        self._tell_neighbour(at + 1)

    def _tell_neighbour(self, at: int) -> None:
        """The row below may now start a group, or not start one any more."""
        if self._start <= at < len(self._places):
            self._tell_changed([self._places[at]])

    def _tell_changed(self, places: Iterable[tuple[int, str]]) -> None:
        for place in places:
            at = bisect_left(self._places, place)
            if at >= self._start:
                index = self.index(at - self._start)
                self.dataChanged.emit(index, index)

    def set_unread_after(self, place: tuple[int, str] | None) -> None:
        """Moves the line above which everything has been read."""
        old, self.unread_after = self.unread_after, place
        for each in (old, place):
            if each is not None:
                self._tell_neighbour(bisect_right(self._places, each))

    # Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._places) - self._start

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= self.rowCount():
            return None
        message = self.row(index.row()).message
        if role == Qt.ItemDataRole.DisplayRole:
            return message.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return tr("{name}: {words}", name=message.name, words=words_of(message))
        return None


def words_of(message: Message) -> str:
    """The text, or that there is none any more."""
    return tr("This message was deleted") if message.deleted else message.text
