"""Owns the form on the wire of what channels say: a type byte and a msgpack body.

Everything here may have been sent by an enemy. `decode` raises BadMessage and nothing else; sizes
are checked before anything is built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgpack

from liveobj.documents import BadUpdate, Version
from liveobj.documents.version import DIGEST_BYTES
from transport.identities import PUBLIC_BYTES, SIGNATURE_BYTES

MESSAGE_BYTES_MAX = 64 * 1024 * 1024
VERSION_BYTES_MAX = 1024 * 1024
PRESENCE_BYTES_MAX = 4096
SIGNATURE_BYTES_MAX = 64
MARKS_BYTES_MAX = 8192
PEER_ID_MAX = 2**64 - 1


class BadMessage(Exception):
    """Bytes that are not a message of ours."""


@dataclass(frozen=True, slots=True)
class Hello:
    """Said by every member after every view: under which identity it writes, what it has, and
    whether it can pass that on."""

    peer_id: int
    version: Version
    can_answer: bool = True


@dataclass(frozen=True, slots=True)
class Greeting:
    """The same with a digest in place of what it has, where that is long; who differs asks for no
    more than is told then: the whole, once for all who have the same."""

    peer_id: int
    digest: bytes
    can_answer: bool = True


@dataclass(frozen=True, slots=True)
class Update:
    """Operations of a document; `signature` is empty for objects whose edits are not signed."""

    data: bytes
    signature: bytes = b""


@dataclass(frozen=True, slots=True)
class PresenceUpdate:
    """How the sender wants to be seen from now on."""

    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece, from `offset`, of an encoded message of `total` bytes that does not fit into one."""

    offset: int
    total: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Payload:
    """One message of an object, as it gave it."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Introduction:
    """Who the sender is: a user's public key, and its signature for the view of that number."""

    public: bytes
    view: int
    signature: bytes


@dataclass(frozen=True, slots=True)
class Marks:
    """Hashes of operations, by which two writers under one identity are found out; signed like an
    update. Members of version 0.1 drop it."""

    data: bytes
    signature: bytes = b""


Message = Hello | Greeting | Update | PresenceUpdate | Fragment | Payload | Introduction | Marks

_HELLO, _UPDATE, _PRESENCE, _FRAGMENT, _PAYLOAD, _INTRODUCTION, _GREETING, _MARKS = range(1, 9)


def encode(message: Message) -> bytes:
    match message:
        case Hello(peer_id, version, can_answer):
            kind, body = _HELLO, [peer_id, version.encode(), can_answer]
        case Greeting(peer_id, digest, can_answer):
            kind, body = _GREETING, [peer_id, digest, can_answer]
        case Update(data, signature):
            kind, body = _UPDATE, [data, signature]
        case PresenceUpdate(fields):
            kind, body = _PRESENCE, [fields]
        case Fragment(offset, total, data):
            kind, body = _FRAGMENT, [offset, total, data]
        case Payload(data):
            kind, body = _PAYLOAD, [data]
        case Introduction(public, view, signature):
            kind, body = _INTRODUCTION, [public, view, signature]
        case Marks(data, signature):
            kind, body = _MARKS, [data, signature]
    packed: bytes = msgpack.packb(body, use_bin_type=True)
    return bytes([kind]) + packed


def is_limited(data: bytes) -> bool:
    """Whether these bytes begin like a greeting or marks, which make others work."""
    return data[:1] in (bytes([_HELLO]), bytes([_GREETING]), bytes([_MARKS]))


def decode(data: bytes) -> Message:
    """The message in `data`, or BadMessage. Greetings may have more fields than are known here."""
    if not data:
        raise BadMessage("an empty message")
    if len(data) > MESSAGE_BYTES_MAX:
        raise BadMessage(f"a message of {len(data)} bytes")
    kind = data[0]
    try:
        body = msgpack.unpackb(
            data[1:],
            raw=False,
            strict_map_key=True,
            max_array_len=16,
            max_map_len=32,
            max_ext_len=0,
        )
    except Exception as problem:  # msgpack has many ways to say no, none of them common to all
        raise BadMessage(f"a body that cannot be unpacked ({problem})") from None
    if not isinstance(body, list):
        raise BadMessage("a body that is not a list")
    return _build(kind, body)


def _build(kind: int, body: list[object]) -> Message:
    match kind, body:
        case 1, [int(peer_id), bytes(version), bool(can_answer), *_]:
            return _build_hello(peer_id, version, can_answer)
        case 2, [bytes(data), bytes(signature)]:
            if len(signature) > SIGNATURE_BYTES_MAX:
                raise BadMessage(f"a signature of {len(signature)} bytes")
            return Update(data, signature)
        case 3, [dict(fields)]:
            return PresenceUpdate(fields)
        case 4, [int(offset), int(total), bytes(data)]:
            if not 0 <= offset < total or not data:
                raise BadMessage(f"a piece at {offset} of {total}")
            return Fragment(offset, total, data)
        case 5, [bytes(data)]:
            return Payload(data)
    return _build_about_sender(kind, body)


def _build_about_sender(kind: int, body: list[object]) -> Message:
    match kind, body:
        case 6, [bytes(public), int(view), bytes(signature)]:
            if len(public) != PUBLIC_BYTES or len(signature) != SIGNATURE_BYTES or view < 0:
                raise BadMessage("an introduction out of bounds")
            return Introduction(public, view, signature)
        case 7, [int(peer_id), bytes(digest), bool(can_answer), *_]:
            if not 0 <= peer_id <= PEER_ID_MAX or len(digest) != DIGEST_BYTES:
                raise BadMessage("a greeting out of bounds")
            return Greeting(peer_id, digest, can_answer)
        case 8, [bytes(data), bytes(signature), *_]:
            if len(data) > MARKS_BYTES_MAX or len(signature) > SIGNATURE_BYTES_MAX:
                raise BadMessage("marks out of bounds")
            return Marks(data, signature)
    raise BadMessage(f"type {kind} with {len(body)} fields")


def _build_hello(peer_id: int, version: bytes, can_answer: bool) -> Hello:
    if not 0 <= peer_id <= PEER_ID_MAX or len(version) > VERSION_BYTES_MAX:
        raise BadMessage("a greeting out of bounds")
    try:
        return Hello(peer_id, Version.decode(version), can_answer)
    except BadUpdate as problem:
        raise BadMessage(str(problem)) from None
