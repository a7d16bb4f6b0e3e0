"""People near: everybody in the same network who runs the program, and what they hand over."""

from __future__ import annotations

from app.object_actions import ObjectActions
from app.settings import Settings, SettingsKeeper
from app.window import MainWindow
from liveobj.channels.lobby import Lobby, Offer
from liveobj.host import Host, Person
from liveobj.references import Reference
from widgets.language import tr
from widgets.people import Here, OfficePerson


class Neighbours:
    """Joins the lobby to the desk."""

    def __init__(
        self, host: Host, window: MainWindow, objects: ObjectActions, settings: SettingsKeeper
    ) -> None:
        self._window = window
        self._objects = objects
        self.lobby = Lobby(host.network, host.scheduler, host.person, host.random_bytes)
        self.lobby.on_offer(self._on_offer)
        settings.observe(self._on_settings)
        self._hidden_at_first(settings.now, host.person)

    def _hidden_at_first(self, settings: Settings, person: Person) -> None:
        if settings.presence_hidden:
            self.lobby.set_person(person, hidden=True)

    def people(self) -> list[OfficePerson]:
        """Everybody near, whatever they are in."""
        return [
            OfficePerson(one.node, one.name, one.colour, Here.BEHIND)
            for one in sorted(self.lobby.neighbours.values(), key=lambda one: one.name.casefold())
        ]

    def hand_over(self, reference: Reference, title: str, person: OfficePerson) -> None:
        """Gives a reference to somebody near."""
        if self.lobby.hand_over(person.node, reference, title):
            words = tr("{name} is asked whether they want it.", name=person.name)
        else:
            words = tr("{name} cannot be reached. Save the file instead.", name=person.name)
        self._window.notice.say(words)

    def close(self) -> None:
        self.lobby.close()

    def _on_settings(self, settings: Settings) -> None:
        person = Person(settings.name, settings.colour)
        self.lobby.set_person(person, hidden=settings.presence_hidden)

    def _on_offer(self, offer: Offer) -> None:
        sentence = tr("{name} hands you “{title}”.", name=offer.sender.name, title=offer.title)
        self._window.notice.ask(
            sentence, tr("Look at it"), lambda: self._objects.receive(offer.reference)
        )
