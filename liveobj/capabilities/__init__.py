"""Capabilities: what holding a reference allows, told by the keys that it carries."""

from liveobj.capabilities.forms import can_edit, view_only
from liveobj.capabilities.keys import EditSeal, ObjectKeys, new_object_keys

__all__ = ["EditSeal", "ObjectKeys", "can_edit", "new_object_keys", "view_only"]
