"""Owns the endpoint and object types that the standard objects share and references name by id."""

from __future__ import annotations

from typing import Generic, TypeVar

from liveobj.declare import endpoint_type, incoming, object_type, outgoing
from liveobj.references import Reference

Message = TypeVar("Message")


@endpoint_type("live-objects:folder-endpoint")
class FolderEndpoint:
    """A dictionary of references (thesis 2.1.5 B)."""

    @incoming
    def get(self, name: str) -> None:
        """Asks for the object of this name; answered by `item` or `missing`."""

    @outgoing
    def item(self, name: str, reference: Reference) -> None:
        """There is an object of this name."""

    @outgoing
    def missing(self, name: str) -> None:
        """There is none."""


@object_type("live-objects:folder")
class FolderType:
    """What can be asked for references by name."""

    folder: FolderEndpoint


@endpoint_type(
    "live-objects:channel-endpoint", provides="fifo channel", requires="connect precedes send"
)
class ChannelEndpoint(Generic[Message]):
    """A reliable multicast channel, FIFO from each sender."""

    @incoming
    def send(self, message: Message) -> None:
        """Multicasts, to oneself as well."""

    @outgoing
    def receive(self, sender: int, message: Message) -> None:
        """Somebody in the group has sent."""


@object_type("live-objects:channel")
class ChannelType(Generic[Message]):
    """A channel for messages of one type."""

    channel: ChannelEndpoint[Message]


@endpoint_type(
    "live-objects:text-endpoint",
    provides="state channel; edited by its editors",
    requires="connect precedes insert, connect precedes delete",
)
class TextEndpoint:
    """A shared text; positions in UTF-16 units."""

    @incoming
    def insert(self, position: int, text: str) -> None:
        """Inserts; out of range is refused and `changed` is not sent."""

    @incoming
    def delete(self, position: int, length: int) -> None:
        """Deletes."""

    @outgoing
    def changed(self, text: str) -> None:
        """The whole text, after it has changed and once when connected."""


@object_type("live-objects:text")
class TextType:
    """Whatever has a shared text."""

    text: TextEndpoint


@endpoint_type("live-objects:membership-endpoint", provides="delivery: fifo")
class MembershipEndpoint:
    """Who is here, as a sequence of views."""

    @outgoing
    def view(self, number: int, members: list[int]) -> None:
        """The view has changed; members are in order of seniority."""


@object_type("live-objects:membership")
class MembershipType:
    """What tells who is here."""

    membership: MembershipEndpoint
