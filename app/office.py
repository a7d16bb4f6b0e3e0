"""Who is online, as far as what is open here tells; what they look at; following one of them; and
what the others are told about this person."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QSinglePointEvent
from PySide6.QtWidgets import QMenu

from app.object_page import ObjectPage
from app.session import Session
from app.settings import SettingsKeeper
from app.window import MainWindow
from liveobj.channels.presence import Attention
from widgets.action import Action
from widgets.language import tr
from widgets.people import Here, OfficePerson, ShownPerson
from widgets.throttle import QtAlarm, Throttle

# Without a key or a move of the mouse for this long, a person is idle.
IDLE_AFTER_S = 180.0
_LOOK_EVERY_S = 0.25
_INPUT = {
    QEvent.Type.KeyPress,
    QEvent.Type.MouseButtonPress,
    QEvent.Type.Wheel,
    QEvent.Type.MouseMove,
    QEvent.Type.TouchBegin,
}
_OWN_WAY = {QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.Wheel}
# Which of two things is said about somebody who is in several objects: the first.
_ORDER = [Here.LOOKING, Here.IDLE, Here.AWAY, Here.BEHIND, Here.LOST]


class Office(QObject):
    """`more_people` gives those whom the network knows although they share nothing that is open
    here. Attributes: `following`, the node of whom the window follows, or None."""

    def __init__(
        self,
        session: Session,
        window: MainWindow,
        settings: SettingsKeeper,
        more_people: Callable[[], list[OfficePerson]],
    ) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._settings = settings
        self._more_people = more_people
        self._idle = False
        self.following: int | None = None
        self._idle_timer = QTimer(self)
        self._idle_timer.setSingleShot(True)
        self._idle_timer.setInterval(round(IDLE_AFTER_S * 1000))
        self._idle_timer.timeout.connect(lambda: self._set_idle(True))
        self._look = Throttle(self.show, QtAlarm(self), _LOOK_EVERY_S)

    def register(self) -> None:
        self._window.registry.add(
            Action(
                "presence.hide",
                tr("Hide who and where I am"),
                self._toggle_hidden,
                checked=lambda: self._settings.now.presence_hidden,
            )
        )
        self._window.registry.add(
            Action(
                "presence.stop_following",
                tr("Stop following"),
                self.stop_following,
                why_not=lambda: "" if self.following is not None else tr("you follow nobody"),
            )
        )

    def begin(self) -> None:
        """Begins to watch; the window has been built by now."""
        window = self._window
        window.front_changed.connect(self._look.request)
        window.shown_changed.connect(self._tell_attention)
        window.page_closed.connect(lambda _: self._look.request())
        window.side.person_asked.connect(self._on_person)
        window.top.people.asked.connect(self._on_disc)
        window.top.following.clicked.connect(self.stop_following)
        # The window of the system gets what the person does, and little else.
        window.winId()
        window.windowHandle().installEventFilter(self)
        self._settings.observe(lambda now: self._session.hide_person(now.presence_hidden))
        self._session.hide_person(self._settings.now.presence_hidden)
        self._idle_timer.start()
        self.show()

    def people(self) -> list[OfficePerson]:
        """Everybody who is online, oneself left out; those who look at something first."""
        found: dict[int, OfficePerson] = {}
        for page in self._window.object_pages():
            for person in page.people:
                if not person.me:
                    known = found.get(person.node)
                    found[person.node] = _merged(known, person, page)
        for other in self._more_people():
            found.setdefault(other.node, other)
        return sorted(found.values(), key=lambda p: (_ORDER.index(p.here), p.name.casefold()))

    def request(self) -> None:
        """Somebody came or went: `show` is called soon."""
        self._look.request()

    def show(self) -> None:
        """Brings the list of people, and what others are told, up to date."""
        self._tell_attention()
        self._window.side.show_people(self.people())
        self._follow()

    # What the others are told

    def _tell_attention(self) -> None:
        front = self._window.front
        away = self._window.isMinimized() or not self._window.isVisible()
        for page in self._window.object_pages():
            if page is not front:
                attention = Attention.BEHIND
            elif away:
                attention = Attention.AWAY
            else:
                attention = Attention.IDLE if self._idle else Attention.LOOKING
            page.opened.opening.shared.presence.set_attention(attention)

    def _set_idle(self, idle: bool) -> None:
        if idle != self._idle:
            self._idle = idle
            self._tell_attention()

    def _toggle_hidden(self) -> None:
        hidden = not self._settings.now.presence_hidden
        self._settings.change(presence_hidden=hidden)
        words = (
            tr("The others no longer see your name and caret.")
            if hidden
            else tr("The others see you again.")
        )
        self._window.notice.say(words)

    # Menus and following

    def _on_disc(self, person: ShownPerson) -> None:
        known = next((one for one in self.people() if one.node == person.node), None)
        if known is not None and not person.me:
            people = self._window.top.people
            self._on_person(known, people.mapToGlobal(people.rect().bottomLeft()))

    def _on_person(self, person: OfficePerson, place: QPoint) -> None:
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self.following == person.node:
            menu.addAction(tr("Stop following")).triggered.connect(self.stop_following)
        else:
            follow = menu.addAction(tr("Follow {name}", name=person.name))
            follow.triggered.connect(lambda: self.follow(person.node))
            follow.setEnabled(bool(person.key))
        show = menu.addAction(
            tr("Show {title}", title=person.place) if person.place else tr("Show what they are in")
        )
        show.setEnabled(bool(person.key))
        show.triggered.connect(lambda: self._show_place(person))
        menu.popup(place)

    def _show_place(self, person: OfficePerson) -> None:
        for page in self._window.object_pages():
            if str(page.opened.opening.identity) == person.key:
                self._window.bring_to_front(page)
                page.view.show_person(person.node)

    def follow(self, node: int) -> None:
        """Shows what that person looks at, until one does something oneself."""
        self.following = node
        self._follow()

    def stop_following(self) -> None:
        self.following = None
        self._window.top.show_following("")
        self._window.registry.refresh()

    def _follow(self) -> None:
        if self.following is None:
            return
        person = next((one for one in self.people() if one.node == self.following), None)
        if person is None:
            self.stop_following()
            return
        self._window.top.show_following(person.name)
        if person.here is Here.LOOKING and person.key:
            front = self._window.front
            if front is None or str(front.opened.opening.identity) != person.key:
                self._show_place(person)
            else:
                front.view.show_person(person.node)

    # Qt

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() in _INPUT:
            self.note_input()
            if self.following is not None and event.type() in _OWN_WAY and self._is_in_view(event):
                self.stop_following()
        return False

    def note_input(self) -> None:
        """The person has done something."""
        self._idle_timer.start()
        self._set_idle(False)

    def _is_in_view(self, event: QEvent) -> bool:
        front = self._window.front
        if isinstance(event, QSinglePointEvent):
            target = self._window.childAt(event.position().toPoint())
        else:
            target = self._window.focusWidget()
        return front is not None and target is not None and front.isAncestorOf(target)


def _merged(known: OfficePerson | None, person: ShownPerson, page: ObjectPage) -> OfficePerson:
    """The place that says most about somebody who is in several."""
    if known is not None and _ORDER.index(known.here) <= _ORDER.index(person.here):
        return known
    key = str(page.opened.opening.identity)
    return OfficePerson(person.node, person.name, person.colour, person.here, page.title, key)
