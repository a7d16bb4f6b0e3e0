"""A real program without a window that takes part in an object and misbehaves, for soaks.

    python -m tests.flow.bad_member FOLDER KIND FILE [--viewer] [--interface 127.0.0.1]

KIND is one of `tests.liveobj.channels.bad_members.BEHAVIOURS`: silent, liar, boaster, garbler,
dripper, whisperer, impostor, slow, flooder. It prints a line when it has joined, and runs until its
standard input ends. FOLDER is a profile of its own; nothing is stored there.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from app.headless_host import headless_host
from app.network_wishes import NetworkWishes
from app.paths import find_paths
from liveobj.capabilities import ObjectKeys
from liveobj.documents import Document
from liveobj.references import Parameterized, Value, fingerprint, group_id_of, read_reference_file
from tests.liveobj.channels.bad_members import BEHAVIOURS


def read_keys(file: Path, *, viewer: bool) -> tuple[bytes, ObjectKeys]:
    """The group and the keys of an object whose state is a document."""
    reference = read_reference_file(file)
    assert isinstance(reference, Parameterized), "documents have parameters"
    verify = reference.arguments["verify_key"]
    assert isinstance(verify, Value), "the key is given"
    assert isinstance(verify.data, bytes), "the key is bytes"
    secrets = reference.secrets.keys
    signing = None if viewer else secrets.get("signing")
    return group_id_of(fingerprint(reference)), ObjectKeys(verify.data, secrets["group"], signing)


async def _run(options: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    paths = find_paths({}, options.folder)
    paths.make()
    group_id, keys = read_keys(options.file, viewer=options.viewer)
    async with headless_host(paths, NetworkWishes(options.interface), "Eve") as host:
        document = Document(host.new_peer_id(), editable=keys.signing is not None)
        group = host.network.join(group_id, keys.group)
        member = BEHAVIOURS[options.kind](document, group, loop, keys)
        sys.stdout.write(f"{options.kind} has joined\n")
        sys.stdout.flush()
        try:
            while await reader.readline():
                pass
        finally:
            member.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kind", choices=sorted(BEHAVIOURS))
    parser.add_argument("file", type=Path)
    parser.add_argument("--viewer", action="store_true", help="without the right to edit")
    parser.add_argument("--interface", default="127.0.0.1")
    asyncio.run(_run(parser.parse_args()))


if __name__ == "__main__":
    main()
