"""Owns the live objects that are little more than a group: channel, membership, leader, streams,
clock."""

from __future__ import annotations

import struct
from collections.abc import Callable

from liveobj.channels.message_channel import MessageChannel
from liveobj.channels.messages import BadMessage
from liveobj.declare import endpoint_type, incoming, live_object, outgoing
from liveobj.host import TimerHandle
from liveobj.objects.standard_types import (
    ChannelEndpoint,
    MembershipEndpoint,
    MembershipType,
)
from liveobj.references import Parameterized, Primitive, Secrets, Value, group_id_of
from liveobj.references.errors import NotAReference
from liveobj.runtime.context import Context
from transport.interfaces import GROUP_KEY_BYTES, View
from transport.sentences import worded

CHANNEL_ID = "live-objects:fifo-channel"
MEMBERSHIP_ID = "live-objects:group-membership"
LEADER_ID = "live-objects:leader"
COORDINATES_ID = "live-objects:coordinates"
SENSOR_ID = "live-objects:sensor-feed"
CLOCK_ID = "live-objects:clock"
TICK_S = 1.0


def new_group_object(
    template_id: str, title: str, random_bytes: Callable[[int], bytes]
) -> Parameterized:
    """The reference of a new object with a group; `nonce` makes it another than all others."""
    return Parameterized(
        Primitive(template_id),
        {"title": Value(title), "nonce": Value(random_bytes(16))},
        secrets=Secrets({"group": random_bytes(GROUP_KEY_BYTES)}),
    )


class GroupProxy:
    """Base of live objects that have a channel of messages."""

    context: Context

    _newest = False
    _channel: MessageChannel

    def __init__(self, title: str, nonce: bytes) -> None:
        """Both are there to describe the object: who it is follows from them."""

    def on_start(self) -> None:
        self._join()

    def _join(self) -> None:
        key = self.context.reference.secrets.keys.get("group")
        if key is None or len(key) != GROUP_KEY_BYTES:
            raise NotAReference(
                worded("The key of this object's group is missing; ask for the file again.")
            )
        group = self.context.host.network.join(group_id_of(self.context.fingerprint), key)
        self._channel = MessageChannel(
            group, self.group_message, self.group_view, newest=self._newest
        )
        self._channel.start()

    def on_stop(self) -> None:
        self._channel.close()

    def on_hibernate(self) -> None:
        self._channel.close()

    def on_wake(self) -> None:
        if self._channel.closed:
            self._join()

    def group_message(self, sender: int, message: bytes) -> None:
        """A message has come."""

    def group_view(self, view: View) -> None:
        """The members have changed."""


@live_object(CHANNEL_ID, title="Channel")
class FifoChannel(GroupProxy):
    """A reliable channel for messages of bytes, in order from each sender."""

    channel: ChannelEndpoint[bytes]

    def on_channel_send(self, message: bytes) -> None:
        self._channel.send(bytes(message))

    def group_message(self, sender: int, message: bytes) -> None:
        self.channel.receive(sender, message)


@live_object(MEMBERSHIP_ID, title="Membership", is_a=(MembershipType,))
class GroupMembership(GroupProxy):
    """Tells who is here."""

    membership: MembershipEndpoint

    _view: View | None = None

    def group_view(self, view: View) -> None:
        self._view = view
        self._tell()

    def on_membership_connected(self) -> None:
        self._tell()

    def _tell(self) -> None:
        if self._view is not None:
            members = [member.node for member in self._view.members]
            self.membership.view(self._view.number, members)


@endpoint_type("live-objects:leader-endpoint", provides="cardinality: at most one leader of a view")
class LeaderEndpoint:
    """Who leads: the most senior of those who see each other. While the network is parted, each
    part has its own; who needs one for all takes a lock."""

    @outgoing
    def leader(self, node: int, me: bool) -> None:
        """The leader is new; told once when connected."""


@live_object(LEADER_ID, title="Leader")
class Leader(GroupProxy):
    """One of those who are here leads."""

    leader: LeaderEndpoint

    _node: int | None = None

    def group_view(self, view: View) -> None:
        node = view.members[0].node
        if node != self._node:
            self._node = node
            self._tell()

    def on_leader_connected(self) -> None:
        self._tell()

    def _tell(self) -> None:
        if self._node is not None:
            self.leader.leader(self._node, self._node == self._channel.me)


@endpoint_type("live-objects:coordinates-endpoint", provides="stream")
class CoordinatesEndpoint:
    """Where something is. Only the newest place is sent: old ones are of no use to anybody."""

    @incoming
    def move(self, x: float, y: float, z: float = 0.0) -> None:
        """It is there now."""

    @outgoing
    def moved(self, sender: int, x: float, y: float, z: float) -> None:
        """Somebody has moved it."""


@live_object(COORDINATES_ID, title="Coordinates")
class Coordinates(GroupProxy):
    """A place that changes faster than it needs to be sent."""

    place: CoordinatesEndpoint

    _newest = True
    _last: tuple[float, float, float] | None = None

    def on_place_move(self, x: float, y: float, z: float = 0.0) -> None:
        self._last = (x, y, z)
        self._channel.send(struct.pack("<3d", x, y, z))

    def group_view(self, _view: View) -> None:
        if self._last is not None:  # for those who have just come
            self._channel.send(struct.pack("<3d", *self._last))

    def group_message(self, sender: int, message: bytes) -> None:
        if len(message) != 24:
            raise BadMessage("coordinates of another size")
        x, y, z = struct.unpack("<3d", message)
        self.place.moved(sender, x, y, z)


@endpoint_type("live-objects:sensor-endpoint", provides="stream")
class SensorEndpoint:
    """A measured value; only the newest is sent."""

    @incoming
    def measure(self, value: float) -> None:
        """It is so much now."""

    @outgoing
    def measured(self, sender: int, value: float) -> None:
        """Somebody has measured."""


@live_object(SENSOR_ID, title="Sensor feed")
class SensorFeed(GroupProxy):
    """What sensors measure, each on its own node."""

    sensor: SensorEndpoint

    _newest = True

    def on_sensor_measure(self, value: float) -> None:
        self._channel.send(struct.pack("<d", value))

    def group_message(self, sender: int, message: bytes) -> None:
        if len(message) != 8:
            raise BadMessage("a measured value of another size")
        self.sensor.measured(sender, struct.unpack("<d", message)[0])


@endpoint_type("live-objects:clock-endpoint", provides="delivery: fifo")
class ClockEndpoint:
    """The time on this machine's wall."""

    @outgoing
    def tick(self, seconds: float) -> None:
        """Once a second, while the object is looked at: seconds since 1970."""


@live_object(CLOCK_ID, title="Clock")
class Clock:
    """Tells the time; the degenerate live object of thesis 2.1.1, whose proxies never talk."""

    context: Context
    clock: ClockEndpoint

    _timer: TimerHandle | None = None

    def on_start(self) -> None:
        if self.context.host.wall_time is None:
            raise NotAReference(worded("There is no clock on this machine."))
        self._arm()

    def _arm(self) -> None:
        self._timer = self.context.host.scheduler.call_later(TICK_S, self._tick)

    def _tick(self) -> None:
        now = self.context.host.wall_time
        assert now is not None, "looked at when starting"
        self.clock.tick(now())
        self._arm()

    def on_sleep(self) -> None:
        self.on_stop()

    def on_wake(self) -> None:
        self._arm()

    def on_stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
