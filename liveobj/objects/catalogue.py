"""Owns the list of what can be made anew, and the import of every standard object, which declares
it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from liveobj.objects import (
    channel_extensions,
    chart,
    chat,
    checkpointed_channel,
    desktop_object,
    files,
    group_objects,
    image,
    library,
    ordered_objects,
    registry,
    replicated_values,
    rich_document_object,
    shared_folder,
    standard_types,
    table,
    text_note_object,
)
from liveobj.objects.chart import new_chart
from liveobj.objects.chat import new_chat
from liveobj.objects.desktop import new_desktop
from liveobj.objects.files import new_files
from liveobj.objects.group_objects import (
    CHANNEL_ID,
    COORDINATES_ID,
    LEADER_ID,
    MEMBERSHIP_ID,
    SENSOR_ID,
    new_group_object,
)
from liveobj.objects.image import new_image
from liveobj.objects.ordered_objects import new_ordered
from liveobj.objects.replicated_values import new_counter, new_log, new_map
from liveobj.objects.rich_document import new_document
from liveobj.objects.shared_folder import new_folder
from liveobj.objects.table import new_table
from liveobj.objects.text_note import new_note
from liveobj.references import Reference

Maker = Callable[[str, Callable[[int], bytes]], Reference]

# By the word that people use; each makes the can-edit reference of an object that did not exist.
MAKERS: dict[str, Maker] = {
    "note": new_note,
    "desktop": new_desktop,
    "document": new_document,
    "files": new_files,
    "folder": new_folder,
    "chart": new_chart,
    "chat": new_chat,
    "image": new_image,
    "table": new_table,
    "map": new_map,
    "counter": new_counter,
    "log": new_log,
    "channel": partial(new_group_object, CHANNEL_ID),
    "membership": partial(new_group_object, MEMBERSHIP_ID),
    "leader": partial(new_group_object, LEADER_ID),
    "coordinates": partial(new_group_object, COORDINATES_ID),
    "ordered-channel": partial(new_ordered, ordered_objects.CHANNEL_ID),
    "checkpointed-channel": partial(new_ordered, checkpointed_channel.CHANNEL_ID),
    "lock": partial(new_ordered, ordered_objects.LOCK_ID),
    "sensor": partial(new_group_object, SENSOR_ID),
}

DECLARED = (
    standard_types,
    channel_extensions,
    chart,
    chat,
    checkpointed_channel,
    desktop_object,
    files,
    group_objects,
    image,
    library,
    ordered_objects,
    registry,
    replicated_values,
    rich_document_object,
    shared_folder,
    table,
    text_note_object,
)
