"""The view of a chat: messages above, the field to write in below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedWidget, QToolButton, QWidget

from liveobj.channels.presence import Presence
from liveobj.documents import DocumentError, MapChange
from liveobj.objects.chat import TEMPLATE_ID, Chat, Message
from liveobj.opening import Opening
from transport.whole_file import users_rights
from widgets.action import Action
from widgets.chat.chat_model import ChatModel, words_of
from widgets.chat.composer import Composer
from widgets.chat.context_strip import ContextStrip
from widgets.chat.draft import Draft
from widgets.chat.links import can_be_opened
from widgets.chat.message_list import MessageList
from widgets.chat.read_mark import ReadMark
from widgets.icons import show_icon
from widgets.language import tr, tr_n
from widgets.look import SPACE_PX, kind, label, page_column
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.throttle import QtAlarm, Throttle

_TYPING_S = 4
_CATCH_UP_S = 5
_COUNT_BELOW = 500
_DESCRIBED_MAX = 50


class ChatView(ObjectView):
    """Attributes: `chat`, `model`, `list`, `composer`."""

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        chat = opening.shared
        assert isinstance(chat, Chat), "the kind says what is opened"
        self.chat = chat
        self._read = ReadMark(chat)
        self._draft = Draft(chat)
        # Up to where one had read, while what was said in the meantime is still coming.
        self._catching_up: tuple[int, str] | None = None
        self.model = ChatModel(chat, self)
        self.list = MessageList(around.theme, self.model, self._names)
        self.composer = Composer(self._names)
        self._build()
        self._throttle = Throttle(self._show_changes, QtAlarm(self))
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.timeout.connect(lambda: self.chat.presence.set_spot(None))
        self._subscriptions = [
            chat.messages.observe(self._on_messages),
            chat.presence.observe(self._on_presence),
        ]
        self._connect()
        self._show_silence()
        self._open_at_unread()
        self._show_typing()
        self.composer.write(self._draft.text() if chat.document.editable else "")
        self._on_typed()

    # Building

    def _build(self) -> None:
        theme = self.around.theme
        column = page_column(self)
        column.setContentsMargins(0, 0, 0, 3 * SPACE_PX)
        column.setSpacing(2 * SPACE_PX)
        self._silence = label(
            tr("Nobody has said anything yet. Whoever has this chat reads it, now or later."),
            "muted",
            wrap=True,
            centred=True,
        )
        self._silence.setContentsMargins(*[5 * SPACE_PX] * 4)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.list)
        self._pages.addWidget(self._silence)
        column.addWidget(self._pages, 1)
        self._newer = QToolButton(self.list)
        kind(self._newer, "floating")
        show_icon(self._newer, theme, "arrow-down")
        self._newer.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._newer.setAccessibleName(tr("To the newest message"))
        self._newer.hide()
        self._context = ContextStrip(theme)
        self._typing_words = label("", "small")
        self._count = label("", "small")
        row = QHBoxLayout()
        row.setContentsMargins(4 * SPACE_PX, 0, 4 * SPACE_PX, 0)
        row.setSpacing(2 * SPACE_PX)
        row.addWidget(self.composer, 1)
        self._send = QToolButton()
        kind(self._send, "primary")
        show_icon(self._send, theme, "send", "on_accent")
        self._send.setToolTip(tr("Send (Enter)"))
        self._send.setAccessibleName(tr("Send"))
        row.addWidget(self._send, 0, Qt.AlignmentFlag.AlignBottom)
        below = QHBoxLayout()
        below.setContentsMargins(5 * SPACE_PX, 0, 5 * SPACE_PX, 0)
        below.addWidget(self._typing_words, 1)
        below.addWidget(self._count)
        column.addWidget(self._context)
        column.addLayout(row)
        column.addLayout(below)
        self.setFocusProxy(self.composer)
        editable = self.chat.document.editable
        self.composer.setEnabled(editable)
        words = tr("Write a message") if editable else tr("You can read here, but not write")
        self.composer.setPlaceholderText(words)

    def _connect(self) -> None:
        self.composer.sent.connect(self.send)
        self._context.changed.connect(self._on_context)
        self._context.left.connect(self.cancel)
        self.composer.cancelled.connect(self.cancel)
        self.composer.last_asked.connect(self.edit_last)
        self.composer.textChanged.connect(self._on_typed)
        self._send.clicked.connect(self.send)
        self._newer.clicked.connect(self.list.scrollToBottom)
        self.list.link_clicked.connect(self.open_link)
        self.list.menu_asked.connect(self._show_menu)
        self.list.activated.connect(lambda _: self.reply())
        self.list.selectionModel().currentChanged.connect(lambda *_: self.changed.emit())
        self.list.scrolled.connect(self._on_scrolled)
        self.list.installEventFilter(self)
        self.around.theme.changed.connect(self.list.lay_out_anew)

    # People

    def _names(self) -> list[str]:
        """Who can be mentioned, oneself first."""
        presence = self.chat.presence
        return [presence.mine.name, *(entry.name for entry in presence.others.values())]

    def typing(self) -> list[str]:
        """Who is writing at this moment."""
        return sorted(
            entry.name
            for entry in self.chat.presence.others.values()
            if isinstance(entry.spot, dict) and entry.spot.get("typing") is True
        )

    def _on_presence(self, _presence: Presence) -> None:
        self._throttle.request()

    def _show_typing(self) -> None:
        names = self.typing()
        if len(names) > 2:
            words = tr_n("{count} person is writing …", "{count} people are writing …", len(names))
        elif len(names) == 2:
            words = tr("{one} and {two} are writing …", one=names[0], two=names[1])
        else:
            words = tr("{name} is writing …", name=names[0]) if names else ""
        self._typing_words.setText(words)

    def _on_typed(self) -> None:
        left = self.composer.left
        self._count.setText("" if left > _COUNT_BELOW else str(left))
        self._send.setEnabled(bool(self.composer.text.strip()) and left >= 0)
        self.set_draft("message", bool(self.composer.text.strip()))
        if self.composer.text and self.chat.document.editable:
            self.chat.presence.set_spot({"typing": True})
            self._typing.start(_TYPING_S * 1000)
        elif self._typing.isActive():
            self._typing.stop()
            self.chat.presence.set_spot(None)

    # Messages

    def _on_messages(self, change: MapChange) -> None:
        self.model.take(change)
        if change.origin.mine:
            self._throttle.request()
            self._throttle.flush()
        else:
            self._throttle.request()

    def _show_changes(self) -> None:
        at_end = self.list.at_end
        before = self.model.last
        with self.list.keeping_place():
            new = self.model.apply()
        self._show_silence()
        others = [message for message in new if message.author != self.chat.me]
        if others and self.model.unread_after is None:
            if self._catching_up is not None:
                self.model.set_unread_after(self._catching_up)
            elif not self._being_read(at_end):
                self.model.set_unread_after(before.place if before is not None else (0, ""))
        if at_end or any(message.author == self.chat.me for message in new):
            self.list.scrollToBottom()
        self._show_typing()
        self._on_scrolled()
        self.changed.emit()

    def _being_read(self, at_end: bool) -> bool:
        return at_end and self.isVisible() and self.isActiveWindow()

    def _open_at_unread(self) -> None:
        """Begins with the line below what was read when the chat was closed."""
        place = self._read.place()
        if place is not None:
            self._catching_up = place
            QTimer.singleShot(_CATCH_UP_S * 1000, self, self._caught_up)
            last = self.model.last
            if last is not None and last.place > place:
                self.model.set_unread_after(place)
                if not self.model.unread_count():
                    self.model.set_unread_after(None)
        self.list.scrollToBottom()

    def _caught_up(self) -> None:
        self._catching_up = None

    def mark_read(self) -> None:
        """Takes the line away; everything has been read."""
        self._caught_up()
        self.model.set_unread_after(None)
        self._read.keep(self.model.last)
        self._on_scrolled()

    def _show_silence(self) -> None:
        """Something is said in place of the messages while there are none."""
        self._pages.setCurrentIndex(0 if self.model.rowCount() else 1)

    def _on_scrolled(self) -> None:
        at_end = self.list.at_end
        unread = self.model.unread_count()
        self._newer.setVisible(not at_end)
        self._newer.setText(tr_n("{count} new", "{count} new", unread) if unread else "")
        self._newer.adjustSize()
        corner = self.list.rect().bottomRight() - QPoint(self._newer.width(), self._newer.height())
        self._newer.move(corner - QPoint(5 * SPACE_PX, 3 * SPACE_PX))
        if self._being_read(at_end):
            self._read.keep(self.model.last)

    # Intents

    def send(self) -> None:
        """Says what is in the field, or puts it into the message that is edited."""
        text = self.composer.text.strip()
        if not text:
            return
        try:
            editing, reply_to = self._context.editing, self._context.reply_to
            if editing is not None:
                self.chat.edit(editing.identity, text)
            else:
                self.chat.say(text, reply_to.identity if reply_to is not None else "")
                self._draft.keep("")
                self.mark_read()
        except DocumentError as problem:
            self.around.say(str(problem))
            return
        self.cancel()

    def cancel(self) -> None:
        """Leaves reply or edit and empties the field."""
        if self._context.message is None and not self.composer.text:
            self.mark_read()
        self.composer.write("")
        self._context.clear()

    @property
    def current(self) -> Message | None:
        """The message that is chosen."""
        index = self.list.currentIndex()
        return self.model.row(index.row()).message if index.isValid() else None

    def reply(self) -> None:
        """Answers the chosen message."""
        if self.current is not None and self.chat.document.editable:
            self._context.reply(self.current)

    def edit(self) -> None:
        """Edits the chosen message."""
        if self.current is not None and self.chat.may_change(self.current):
            self.composer.write(self.current.text)
            self._context.edit(self.current)

    def edit_last(self) -> None:
        last = self.model.last_mine()
        number = None if last is None else self.model.number_of(last.identity)
        if number is not None:
            self.list.setCurrentIndex(self.model.index(number))
            self.edit()

    def delete(self) -> None:
        """Deletes the chosen message; undo brings it back."""
        message = self.current
        if message is None:
            return
        try:
            self.chat.delete(message.identity)
        except DocumentError as problem:
            self.around.say(str(problem))
            return
        self.around.say(tr("Deleted for everybody. Undo brings it back."))

    def copy(self) -> None:
        """Copies the words of the chosen message."""
        if self.current is not None:
            QGuiApplication.clipboard().setText(words_of(self.current))

    def open_link(self, address: str) -> None:
        url = QUrl(address)
        if can_be_opened(url):
            with users_rights():  # a browser saves for itself
                QDesktopServices.openUrl(url)

    def _on_context(self) -> None:
        if self._context.message is not None:
            self.composer.setFocus()
        self._on_typed()

    # Actions

    def _why_no_message(self) -> str:
        return "" if self.current is not None else tr("no message is chosen")

    def _why_no_reply(self) -> str:
        if not self.chat.document.editable:
            return tr("you can only view this chat")
        return self._why_no_message()

    def _why_not_mine(self) -> str:
        why = self._why_no_reply()
        if why or self.current is None:
            return why
        return "" if self.chat.may_change(self.current) else tr("it is not a message of yours")

    def actions_here(self) -> Sequence[Action]:
        return (
            Action("chat.reply", tr("Reply"), self.reply, "", self._why_no_reply),
            Action("chat.edit", tr("Edit message"), self.edit, "", self._why_not_mine),
            Action("chat.delete", tr("Delete message"), self.delete, "", self._why_not_mine),
            Action("chat.copy", tr("Copy message"), self.copy, "", self._why_no_message),
            Action("chat.read", tr("Mark everything as read"), self.mark_read),
        )

    def _show_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self.actions_here():
            entry = menu.addAction(action.title, action.run)
            entry.setEnabled(not action.why_not())
        menu.popup(place)

    # For whoever shows the view

    def show_newest(self) -> None:
        self._throttle.flush()

    def describe(self) -> dict[str, Any]:
        first = max(0, self.model.rowCount() - _DESCRIBED_MAX)
        rows = [self.model.row(number) for number in range(first, self.model.rowCount())]
        return {
            "messages": [
                {"name": row.message.name, "text": words_of(row.message)}
                | ({"edited": True} if row.message.edited else {})
                | ({"reply_to": row.answered.text} if row.answered is not None else {})
                for row in rows
            ],
            "count": self.model.total,
            "unread": self.model.unread_count(),
            "typing": self.typing(),
        }

    def finish_typing(self) -> None:
        """A new message that is not sent waits here for the next time."""
        if self.chat.document.editable and self._context.editing is None:
            self._draft.keep(self.composer.text)

    def close_view(self) -> None:
        self._typing.stop()
        self.chat.presence.set_spot(None)
        for subscription in self._subscriptions:
            subscription.close()
        self._throttle.close()
        self.around.theme.changed.disconnect(self.list.lay_out_anew)

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.list and event.type() is QEvent.Type.Resize:
            QTimer.singleShot(0, self, self._on_scrolled)
        return super().eventFilter(watched, event)


KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Chat"),
    sentence=tr("Messages that stay for whoever comes later"),
    icon="message-circle",
    view=ChatView,
)
