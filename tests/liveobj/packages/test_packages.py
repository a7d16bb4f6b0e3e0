"""Packages: what is signed and whole is read; everything else is refused before a byte of it
runs."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from liveobj.packages import PackageProblem, Question, Trust, build_package, read_package
from liveobj.packages.building import (
    MANIFEST_NAME,
    SIGNATURE_NAME,
    SIGNED_CONTEXT,
    file_hash,
    pack,
)
from liveobj.packages.loading import load, unpack
from liveobj.packages.manifest import Manifest
from liveobj.packages.trust import ask_by
from tests.disk_faults import FAULTS, all_files, refusing

KEY, OTHER = b"k" * 32, b"o" * 32
FILES = {"__init__.py": b"VALUE = 5\n", "data/picture.txt": b"a picture"}
FAR = 4_000_000_000


def build(version: int = 3, key: bytes = KEY, files: dict[str, bytes] = FILES) -> bytes:
    return build_package("demo", version, files, {"Thing": "example.com:thing"}, key, expires=FAR)


GOOD = build()


def entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repack(change: Callable[[dict[str, bytes]], None]) -> bytes:
    content = entries(GOOD)
    change(content)
    files = {n: d for n, d in content.items() if n not in (MANIFEST_NAME, SIGNATURE_NAME)}
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in (MANIFEST_NAME, SIGNATURE_NAME):
            if name in content:
                archive.writestr(name, content[name])
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def signed(manifest: dict[str, object], files: dict[str, bytes] = FILES, key: bytes = KEY) -> bytes:
    encoded = json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()
    return pack(files, encoded, bytes(SigningKey(key).sign(SIGNED_CONTEXT + encoded).signature))


def manifest(**changes: object) -> dict[str, object]:
    return {**json.loads(entries(GOOD)[MANIFEST_NAME]), **changes}


def with_entry(info: zipfile.ZipInfo, data: bytes) -> bytes:
    buffer = BytesIO(GOOD)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(info, data)
    return buffer.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def bomb() -> bytes:
    files = {"__init__.py": b"0" * 30_000_000}
    return build(files=files)


def lying_bomb() -> bytes:
    """Says that it is small where the list of contents is, and is not."""
    data = bytearray(bomb())
    size = (30_000_000).to_bytes(4, "little")
    for at in range(len(data) - 4):
        if data[at : at + 4] == size:
            data[at : at + 4] = (100).to_bytes(4, "little")
    return bytes(data)


def drop(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda content: content.pop(name) and None


def put(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda content: content.update({name: data})


ATTACKS: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "no archive": lambda: b"hello" * 100,
    "cut short": lambda: GOOD[:-40],
    "a changed byte of a file": lambda: repack(put("__init__.py", b"VALUE = 6\n")),
    "a changed picture": lambda: repack(put("data/picture.txt", b"another")),
    "an added file": lambda: repack(put("extra.py", b"print()")),
    "an added hook": lambda: repack(put("setup.py", b"print()")),
    "a missing file": lambda: repack(drop("data/picture.txt")),
    "no signature": lambda: repack(drop(SIGNATURE_NAME)),
    "no manifest": lambda: repack(drop(MANIFEST_NAME)),
    "an empty signature": lambda: repack(put(SIGNATURE_NAME, b"")),
    "a signature of zeros": lambda: repack(put(SIGNATURE_NAME, b"\0" * 64)),
    "a long signature": lambda: repack(put(SIGNATURE_NAME, b"\0" * 65)),
    "another's signature": lambda: repack(
        put(SIGNATURE_NAME, entries(build(key=OTHER))[SIGNATURE_NAME])
    ),
    "a signature of another version": lambda: repack(
        put(SIGNATURE_NAME, entries(build(version=4))[SIGNATURE_NAME])
    ),
    "a manifest that claims another key": lambda: signed(
        manifest(publisher=bytes(SigningKey(OTHER).verify_key).hex())
    ),
    "a manifest with a blank": lambda: repack(
        put(MANIFEST_NAME, b" " + entries(GOOD)[MANIFEST_NAME])
    ),
    "a manifest of nonsense": lambda: repack(put(MANIFEST_NAME, b"[1]")),
    "a manifest of nothing": lambda: repack(put(MANIFEST_NAME, b"\xff")),
    "a deep manifest": lambda: repack(put(MANIFEST_NAME, b"[" * 100_000)),
    "a huge manifest": lambda: repack(put(MANIFEST_NAME, b" " * 300_000)),
    "a newer form": lambda: signed(manifest(format=2)),
    "a strange name": lambda: signed(manifest(name="../../etc")),
    "a negative version": lambda: signed(manifest(version=-1)),
    "a version that is true": lambda: signed(manifest(version=True)),
    "an endless version": lambda: signed(manifest(version=10**400)),
    "objects of nonsense": lambda: signed(manifest(objects={"x": "no id"})),
    "files that lead out": lambda: signed(manifest(files={"../x": "0" * 64})),
    "a path that leads out": lambda: with_entry(zipfile.ZipInfo("../evil.py"), b"x"),
    "an absolute path": lambda: with_entry(zipfile.ZipInfo("/tmp/evil.py"), b"x"),
    "a path of Windows": lambda: with_entry(zipfile.ZipInfo("C:\\evil.py"), b"x"),
    "a hidden file": lambda: with_entry(zipfile.ZipInfo(".hidden"), b"x"),
    "a link": lambda: with_entry(link("link"), b"/etc/passwd"),
    "a link to a listed file": lambda: with_entry(link("data/other"), b"../../x"),
    "a folder": lambda: with_entry(zipfile.ZipInfo("folder/"), b""),
    "a bomb": bomb,
    "a lying bomb": lying_bomb,
    "nothing to run": lambda: build(files={"readme.txt": b"x"}),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused(name: str) -> None:
    with pytest.raises(PackageProblem) as caught:
        read_package(ATTACKS[name]())
    assert str(caught.value).endswith(".")


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 25


def test_every_changed_byte_is_noticed_or_changes_nothing() -> None:
    good = read_package(GOOD)
    for place in range(len(GOOD)):
        changed = bytearray(GOOD)
        changed[place] ^= 0x41
        try:
            package = read_package(bytes(changed))
        except PackageProblem:
            continue
        assert package == good


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        data = with_entry(zipfile.ZipInfo("__init__.py"), b"x")
    with pytest.raises(PackageProblem, match="twice"):
        read_package(data)


def test_a_good_package_is_read_and_imported_once(tmp_path: Path) -> None:
    package = read_package(GOOD)
    assert package.files == FILES
    assert package.manifest.objects == {"Thing": "example.com:thing"}
    load(package, tmp_path)
    place = unpack(package, tmp_path)
    assert (place / "data" / "picture.txt").read_bytes() == b"a picture"
    (place / "__init__.py").write_bytes(b"VALUE = 'tampered'")
    unpack(package, tmp_path)
    assert (place / "__init__.py").read_bytes() == FILES["__init__.py"]
    load(package, tmp_path)


def test_a_package_that_fails_is_told(tmp_path: Path) -> None:
    package = read_package(build(files={"__init__.py": b"1 / 0"}))
    with pytest.raises(PackageProblem, match="cannot be started: ZeroDivisionError"):
        load(package, tmp_path)


def test_trust_is_pinned_and_versions_only_grow(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "publishers.json"
    trust = Trust(path)
    package = read_package(GOOD)
    assert not trust.check(package, now=0)
    trust.accept(package)
    again = Trust(path)
    assert again.check(package, now=0)
    assert again.check(read_package(build(version=4)), now=0)
    with pytest.raises(PackageProblem, match="older"):
        again.check(read_package(build(version=2)), now=0)
    with pytest.raises(PackageProblem, match="somebody else"):
        again.check(read_package(build(key=OTHER)), now=0)
    with pytest.raises(PackageProblem, match="expired"):
        again.check(package, now=FAR + 1)
    again.recall([package.digest])
    with pytest.raises(PackageProblem, match="recalled"):
        again.check(package, now=0)


def test_a_damaged_list_of_publishers_is_told(tmp_path: Path) -> None:
    path = tmp_path / "publishers.json"
    path.write_text("{")
    with pytest.raises(PackageProblem, match="cannot be read"):
        Trust(path)


def test_a_manifest_survives_its_bytes() -> None:
    found = Manifest("x", 1, "0" * 64, 5, {"a.py": file_hash(b"")}, {}, "title")
    assert Manifest.decode(found.encode()) == found


def test_dialog_that_is_awaited_answers_once_and_a_failing_one_refuses() -> None:
    question = Question("demo", "Demo", 1, "ab" * 32)
    answers: list[bool] = []

    async def story() -> None:
        loop = asyncio.get_running_loop()

        async def agrees(asked: Question) -> bool:
            assert asked == question
            await asyncio.sleep(0)
            return True

        async def cancelled(_asked: Question) -> bool:
            raise asyncio.CancelledError

        for dialog in (agrees, cancelled):
            ask_by(dialog, loop.create_task)(question, answers.append)
            await asyncio.sleep(0.01)

    asyncio.run(story())
    assert answers == [True, False]
    assert "with the same rights as this program" in question.sentence


@pytest.mark.parametrize(("call", "code"), FAULTS)
def test_disk_that_refuses_leaves_the_list_of_publishers_as_it_was(
    tmp_path: Path, call: str, code: int
) -> None:
    path = tmp_path / "trusted.json"
    Trust(path).accept(read_package(GOOD))
    before = all_files(tmp_path)
    reason = f"refuses: {re.escape(os.strerror(code))}"
    with refusing(call, code), pytest.raises(PackageProblem, match=reason):
        Trust(path).accept(read_package(build(version=4)))
    with refusing(call, code), pytest.raises(PackageProblem, match=reason):
        unpack(read_package(GOOD), tmp_path / "packages")
    assert all_files(tmp_path) == before
    assert path.stat().st_mode & 0o777 == 0o600
