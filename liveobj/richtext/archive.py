"""Owns reading and writing the ZIP files that ODT and DOCX are, within bounds.

A file says how large its parts are; it may lie. So every part is read piece by piece and refused at
the first byte too many, whatever its header said.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from liveobj.richtext.errors import FileProblem
from transport.sentences import worded

FILE_BYTES_MAX = 64 * 1024 * 1024
PART_BYTES_MAX = 64 * 1024 * 1024
ALL_BYTES_MAX = 160 * 1024 * 1024
PARTS_MAX = 5000
# Text shrinks to a tenth or so; a thousandth is an attack.
_RATIO_MAX = 200
_RATIO_FROM_BYTES = 1024 * 1024
_DATE = (1980, 1, 1, 0, 0, 0)


class Archive:
    """A ZIP file that is open for reading; to be used in a `with`."""

    def __init__(self, file: Path) -> None:
        try:
            if file.stat().st_size > FILE_BYTES_MAX:
                raise FileProblem(
                    worded(
                        "{file} is larger than {most} MiB.",
                        file=file.name,
                        most=FILE_BYTES_MAX >> 20,
                    )
                )
            self._zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise FileProblem(
                worded("{file} is damaged, or of another kind.", file=file.name)
            ) from None
        except OSError as problem:
            raise FileProblem(
                worded("{file} cannot be read: {reason}.", file=file.name, reason=problem.strerror)
            ) from None
        self._name = file.name
        self._left = ALL_BYTES_MAX
        if len(self._zip.infolist()) > PARTS_MAX:
            self._zip.close()
            raise FileProblem(
                worded("{name} has more than {most} parts.", name=self._name, most=f"{PARTS_MAX:,}")
            )

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_problem: object) -> None:
        self._zip.close()

    def read(self, part: str, bytes_max: int = PART_BYTES_MAX) -> bytes:
        """A part; empty if there is none of that name."""
        try:
            info = self._zip.getinfo(part)
        except KeyError:
            return b""
        ratio = info.file_size / max(1, info.compress_size)
        if info.file_size > _RATIO_FROM_BYTES and ratio > _RATIO_MAX:
            raise FileProblem(
                worded("{name} would become far too large when unpacked.", name=self._name)
            )
        bytes_max = min(bytes_max, self._left)
        try:
            with self._zip.open(info) as stream:
                data = stream.read(bytes_max + 1)
        except (
            zipfile.BadZipFile,
            OSError,
            EOFError,
            NotImplementedError,
            RuntimeError,
            ValueError,
        ):
            raise FileProblem(worded("A part of {name} is damaged.", name=self._name)) from None
        except Exception as problem:  # zlib's error is not derived from any of the above
            raise FileProblem(worded("A part of {name} is damaged.", name=self._name)) from problem
        if len(data) > bytes_max:
            raise FileProblem(
                worded("{name} would become far too large when unpacked.", name=self._name)
            )
        self._left -= len(data)
        return data


def write_archive(file: Path, parts: Mapping[str, bytes], plain_first: str = "") -> None:
    """Writes a ZIP file of these parts, the same bytes for the same parts; `plain_first` names the
    one that other programs look for uncompressed at the start."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            how = zipfile.ZIP_STORED if name == plain_first else zipfile.ZIP_DEFLATED
            info = zipfile.ZipInfo(name, _DATE)
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, how)
