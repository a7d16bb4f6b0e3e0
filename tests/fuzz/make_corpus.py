"""Writes the seeds of the fuzz targets: one good input of each kind, and some that are nearly good.

Run as `python -m tests.fuzz.make_corpus`; the files are part of the sources, so that what a fuzzer
starts from does not change by itself.
"""

from __future__ import annotations

import random
from pathlib import Path

import msgpack

from liveobj.channels.messages import (
    Fragment,
    Greeting,
    Hello,
    Introduction,
    Marks,
    Payload,
    PresenceUpdate,
    Update,
    encode,
)
from liveobj.channels.twin_check import Mark, pack_marks
from liveobj.confinement.description import describe
from liveobj.confinement.frames import pack as pack_frame
from liveobj.declare import DECLARATIONS
from liveobj.documents import Version
from liveobj.objects.authorship import Statement
from liveobj.objects.catalogue import MAKERS
from liveobj.packages import build_package, read_package
from liveobj.references import (
    Composite,
    External,
    NamedType,
    Primitive,
    read_reference,
    write_reference,
)
from transport.pairing import Asking, Inviting
from transport.scopes import NEARBY

CORPUS = Path(__file__).with_name("corpus")


def seeds() -> dict[str, dict[str, bytes]]:
    randomness = random.Random(1).randbytes
    references = {name: write_reference(make("x", randomness)) for name, make in MAKERS.items()}
    parts = {name: read_reference(references[name]) for name in sorted(references)[:2]}
    named = NamedType("live-objects:folder")
    folder = External("x", Primitive("live-objects:registry"), as_type=named)
    references["external"] = write_reference(folder)
    references["composite"] = write_reference(Composite(parts))
    package = build_package(
        "demo", 1, {"__init__.py": b"X = 1\n"}, {"Thing": "a.b:c"}, b"k" * 32, expires=2**40
    )
    version = Version({1: 5, 2: 7})
    marks = pack_marks(9, [Mark(1, 0, 5, bytes(16)), Mark(2, 0, 7, bytes(16))])
    messages = {
        "hello": Hello(5, version),
        "update": Update(b"data", b"s" * 64),
        "presence": PresenceUpdate({"name": "Ada", "colour": "#112233"}),
        "fragment": Fragment(0, 10, b"abc"),
        "payload": Payload(b"data"),
        "introduction": Introduction(bytes(32), 7, bytes(64)),
        "greeting": Greeting(5, version.digest),
        "marks": Marks(marks, bytes(64)),
    }
    asking, inviting = Asking(randomness), Inviting(randomness)
    commit = inviting.commit("Ada", "Office")
    records = [
        ["member", 5, 5],
        ["promise", 9],
        ["begin", True, 5, 9, [[5]], 0, [[0, 9, b"\x91\x05"]], 0, b"", []],
        ["entry", 5, 1, b"x"],
        ["delivered", 1],
        ["sent", 1, b"y"],
    ]
    bound = [
        ["member", 5, 5],
        ["bound", bytes(16), 3],
        ["seen", [[6, 2, 77, 9, 9, 4]]],
        ["at", 1.5],
        ["disowned", 8],
    ]
    spoken = {
        "heard": [5, 1, 9],
        "prepare": [6, 1, 9],
        "promise": [7, 9, 5, 5, 9, 1, 1, [[5]]],
        "who": [8, 1, 6, 2, 77, 9, 9, 4],
        "disown": [9, 6, 77],
        "begin": [4, 5, 9, [[5]], 0, [[0, 9, b"\x91\x05"]], 0, b"", []],
        "ack": [3, 9, 5, 1],
    }
    caret = {"name": "A", "colour": "#112233", "caret": ["text", b"a", b"b"], "spot": [1, {}]}
    declared = next(d for d in DECLARATIONS if d.runnable and not d.type_parameters)
    return {
        "reference": references,
        "package": {"good": package, "cut": package[:-20]},
        "manifest": {"good": read_package(package).manifest.encode()},
        "message": {name: encode(message) for name, message in messages.items()},
        "presence": {"good": msgpack.packb(caret)},
        "order": {"good": msgpack.packb(records), "bound": msgpack.packb(bound)},
        "marks": {"good": marks},
        "order_message": {name: msgpack.packb(parts) for name, parts in spoken.items()},
        "statement": {"good": Statement(bytes(32), 5, 7, "Ada", bytes(64)).packed()},
        "frame": {"good": pack_frame(["event", 1, "x", "y", {}]) + pack_frame(["pong", 1])},
        "description": {"good": describe(declared)["type"]},
        "pairing": {"hello": asking.hello("Jun"), "commit": commit, "key": asking.key()},
        "invitation": {"good": NEARBY.invitation().encode()},
    }


def main() -> None:
    for target, files in seeds().items():
        for name, data in files.items():
            path = CORPUS / target / (name.replace(" ", "-") + ".bin")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    main()
