"""Items for tests that need no desktop."""

from __future__ import annotations

from liveobj.objects.desktop_items import Form, Frame, Item

FRAME = Frame(0, 0, 300, 200)


def thing(identity: str = "0" * 16, reference: bytes = b"x") -> Item:
    return Item(identity, Form.OBJECT, reference, FRAME)


def link() -> Item:
    return Item("1" * 16, Form.LINK, b"x", FRAME)
