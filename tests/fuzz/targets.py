"""What is fuzzed in Python: everything that reads bytes which a stranger may have made.

A target reads the bytes and checks what must hold whatever they are: the one kind of error that its
reader promises, nothing else; and that what was read can be written and read again as the same.
"""

from __future__ import annotations

from collections.abc import Callable

import msgpack

from liveobj.channels.messages import BadMessage, decode, encode
from liveobj.channels.order_state import OrderState
from liveobj.channels.presence import PresenceEntry
from liveobj.channels.total_order import Callbacks, TotalOrder
from liveobj.channels.twin_check import pack_marks, read_marks
from liveobj.confinement.description import BadDescription, read_description
from liveobj.confinement.frames import BadFrame, Frames, pack
from liveobj.objects.authorship import Statement
from liveobj.packages import PackageProblem, read_package
from liveobj.packages.manifest import Manifest
from liveobj.references import ReferenceProblem, fingerprint, read_reference, write_reference
from tests.liveobj.support import LocalNetwork
from transport.errors import BadArgument, PeerViolation
from transport.pairing import Asking, Inviting
from transport.scopes import Scope

Target = Callable[[bytes], None]


def reference(data: bytes) -> None:
    try:
        found = read_reference(data)
    except ReferenceProblem:
        return
    again = read_reference(write_reference(found))
    assert fingerprint(again) == fingerprint(found)


def package(data: bytes) -> None:
    try:
        found = read_package(data)
    except PackageProblem:
        return
    assert set(found.files) == set(found.manifest.files)


def manifest(data: bytes) -> None:
    try:
        found = Manifest.decode(data)
    except PackageProblem:
        return
    assert found.encode() == data


def message(data: bytes) -> None:
    try:
        found = decode(data)
    except BadMessage:
        return
    assert decode(encode(found)) == found


def marks(data: bytes) -> None:
    try:
        node, found = read_marks(data)
    except BadMessage:
        return
    if -(1 << 63) <= node < 1 << 64:
        assert read_marks(pack_marks(node, found)) == (node, found)


def presence(data: bytes) -> None:
    try:
        fields = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except Exception:
        return
    if not isinstance(fields, dict):
        return
    try:
        found = PresenceEntry.read(fields)
    except BadMessage:
        return
    assert PresenceEntry.read(found.fields()) == found


def order(data: bytes) -> None:
    """A journal of an order, as it may be on a damaged disk."""
    try:
        records = msgpack.unpackb(data, raw=False, strict_map_key=False)
    except Exception:
        return
    state = OrderState()
    for record in records if isinstance(records, list) else []:
        if not isinstance(record, list):
            continue
        try:
            state.apply(record)
        except BadMessage:
            return


def order_message(data: bytes) -> None:
    """What members of an ordered channel say to each other."""
    group = LocalNetwork().node(1).join(bytes(16), bytes(32))
    callbacks = Callbacks(lambda *_: None, lambda _: None, lambda: b"", lambda _: None)
    order = TotalOrder(group, 5, callbacks, founder=True)
    order.start()
    for sender in (1, 2):
        try:
            order._on_message(sender, data)
        except BadMessage:
            continue


def statement(data: bytes) -> None:
    found = Statement.read(data)
    if found is not None:
        assert Statement.read(found.packed()) == found


def frame(data: bytes) -> None:
    frames = Frames()
    frames.add(data)
    try:
        while (found := frames.next()) is not None:
            pack(found)
    except BadFrame:
        return


def description(data: bytes) -> None:
    """What a confined process says of its objects: here, the XML of a type."""
    described = {"title": "x", "description": "", "type": data, "parameters": {"a": [data, True]}}
    try:
        read_description("example.com:x", "fuzz", described)
    except BadDescription:
        return


def pairing(data: bytes) -> None:
    def random_bytes(size: int) -> bytes:
        return b"\7" * size

    asking = Asking(random_bytes)
    hearers: tuple[Callable[[bytes], object], ...] = (
        Inviting(random_bytes).hear_hello,
        Inviting(random_bytes).hear_key,
        asking.hear_commit,
        lambda heard: asking.hear_reveal(heard, bytes(32)),
        lambda heard: Inviting(random_bytes).reveal(heard),
    )
    for hear in hearers:
        try:
            hear(data)
        except PeerViolation:
            continue


def invitation(data: bytes) -> None:
    try:
        found = Scope.from_invitation(data.decode("utf-8", "replace"))
    except BadArgument:
        return
    assert Scope.from_invitation(found.invitation()) == found


TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        reference,
        package,
        manifest,
        message,
        marks,
        presence,
        order,
        order_message,
        statement,
        frame,
        description,
        pairing,
        invitation,
    )
}
