"""Channels: what joins the state of an object to a multicast group."""

from liveobj.channels.channel_state import ChannelState
from liveobj.channels.document_channel import DocumentChannel
from liveobj.channels.presence import Caret, Presence, PresenceEntry

__all__ = ["Caret", "ChannelState", "DocumentChannel", "Presence", "PresenceEntry"]
