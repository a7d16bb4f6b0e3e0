"""Owns the table of standard objects: one line each, from which the lists of all that the program
declares, makes and shows are derived.

The table holds classes, so importing this file declares them. A type checker reads every line, and
a compiled build follows the imports; a scan of the folder would save one import for each object and
lose both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from liveobj.declare import reflect_object
from liveobj.objects import channel_extensions, library, registry, standard_types
from liveobj.objects.chart import ChartObject
from liveobj.objects.chat import ChatObject
from liveobj.objects.checkpointed_channel import CheckpointedChannel
from liveobj.objects.desktop_object import DesktopObject
from liveobj.objects.files import FilesObject
from liveobj.objects.group_objects import (
    Coordinates,
    FifoChannel,
    GroupMembership,
    Leader,
    SensorFeed,
    new_group_object,
)
from liveobj.objects.image import ImageObject
from liveobj.objects.ordered_objects import Lock, OrderedChannel, new_ordered
from liveobj.objects.replicated_values import CounterObject, LogObject, MapObject
from liveobj.objects.rich_document_object import RichDocumentObject
from liveobj.objects.shared_document import new_shared
from liveobj.objects.shared_folder import SharedFolder
from liveobj.objects.table import TableObject
from liveobj.objects.text_note_object import TextNoteObject
from liveobj.references import Reference

RandomBytes = Callable[[int], bytes]
Maker = Callable[[str, RandomBytes], Reference]


@dataclass(frozen=True, slots=True)
class StandardObject:
    """An object that people can make. `word` names it in commands and in files; `cls` is the class
    that declares it; `new` builds a reference from a template id, a title and random bytes."""

    word: str
    cls: type
    new: Callable[[str, str, RandomBytes], Reference] = new_shared

    @property
    def template_id(self) -> str:
        """The permanent id, by which references in files name it."""
        return reflect_object(self.cls).id

    def make(self, title: str, random_bytes: RandomBytes) -> Reference:
        """The can-edit reference of an object that did not exist before."""
        return self.new(self.template_id, title, random_bytes)


STANDARD: tuple[StandardObject, ...] = (
    StandardObject("note", TextNoteObject),
    StandardObject("desktop", DesktopObject),
    StandardObject("document", RichDocumentObject),
    StandardObject("files", FilesObject),
    StandardObject("folder", SharedFolder),
    StandardObject("chart", ChartObject),
    StandardObject("chat", ChatObject),
    StandardObject("image", ImageObject),
    StandardObject("table", TableObject),
    StandardObject("map", MapObject),
    StandardObject("counter", CounterObject),
    StandardObject("log", LogObject),
    StandardObject("channel", FifoChannel, new_group_object),
    StandardObject("membership", GroupMembership, new_group_object),
    StandardObject("leader", Leader, new_group_object),
    StandardObject("coordinates", Coordinates, new_group_object),
    StandardObject("ordered-channel", OrderedChannel, new_ordered),
    StandardObject("checkpointed-channel", CheckpointedChannel, new_ordered),
    StandardObject("lock", Lock, new_ordered),
    StandardObject("sensor", SensorFeed, new_group_object),
)

# Modules with types and helpers that references name, but that people do not make by a word.
_DECLARING = (channel_extensions, library, registry, standard_types)

# All modules that declare standard objects; to import this file is to declare them.
DECLARED: frozenset[str] = frozenset(
    [*(one.cls.__module__ for one in STANDARD), *(module.__name__ for module in _DECLARING)]
)

MAKERS: dict[str, Maker] = {one.word: one.make for one in STANDARD}

BY_TEMPLATE: dict[str, StandardObject] = {one.template_id: one for one in STANDARD}
