"""Casting extensions: what can be put between two ends that do not fit (thesis 2.1.4 F)."""

from liveobj.casting.extensions import EXTENSIONS, Extension, Extensions, Offer
from liveobj.casting.values import VALUE_CONVERTERS, ValueConverters, connect_converting

__all__ = [
    "EXTENSIONS",
    "VALUE_CONVERTERS",
    "Extension",
    "Extensions",
    "Offer",
    "ValueConverters",
    "connect_converting",
]
