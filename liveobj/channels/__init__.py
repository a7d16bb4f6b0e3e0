"""Channels: what joins the state of an object to a multicast group."""

from liveobj.channels.document_channel import ChannelState, DocumentChannel
from liveobj.channels.presence import Caret, Presence, PresenceEntry

__all__ = ["Caret", "ChannelState", "DocumentChannel", "Presence", "PresenceEntry"]
