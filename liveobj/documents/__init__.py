"""Replicated documents: state that merges, over the loro library, behind one small interface."""

from liveobj.documents.counters import Counter, CounterChange
from liveobj.documents.document import Change, Document, Origin
from liveobj.documents.errors import BadUpdate, DocumentError, PositionError, ReadOnly, TooCostly
from liveobj.documents.history import HistoryEntry
from liveobj.documents.lists import List, ListChange, ListStep, MovableList
from liveobj.documents.maps import Map, MapChange
from liveobj.documents.text import Text, TextChange, TextStep
from liveobj.documents.trees import Tree, TreeAction, TreeChange, TreeItem
from liveobj.documents.version import Version

__all__ = [
    "BadUpdate",
    "Change",
    "Counter",
    "CounterChange",
    "Document",
    "DocumentError",
    "HistoryEntry",
    "List",
    "ListChange",
    "ListStep",
    "Map",
    "MapChange",
    "MovableList",
    "Origin",
    "PositionError",
    "ReadOnly",
    "Text",
    "TextChange",
    "TextStep",
    "TooCostly",
    "Tree",
    "TreeAction",
    "TreeChange",
    "TreeItem",
    "Version",
]
