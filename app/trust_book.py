"""Whose objects go live without being asked about: a text file with one fact a line.

An object that was made or has been live here is known. Besides, a person may trust whatever is
signed by an author, or comes from a folder.
"""

from __future__ import annotations

import logging
from pathlib import Path

from liveobj.references import Reference, fingerprint
from liveobj.references.makers import Maker, maker_of
from transport.whole_file import write_whole

log = logging.getLogger(__name__)

_OBJECT, _AUTHOR, _FOLDER = "object", "author", "folder"


class TrustBook:
    """Keeps and answers; lines that it does not know are passed over and stay."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._facts: set[tuple[str, str]] = set()
        for line in _lines(file):
            word, _, value = line.partition(" ")
            if word in (_OBJECT, _AUTHOR, _FOLDER) and value:
                self._facts.add((word, value))

    def trusts(self, reference: Reference, file: Path | None) -> bool:
        """Whether this reference, which came by this file if by one, may go live at once."""
        if (_OBJECT, str(fingerprint(reference))) in self._facts:
            return True
        maker = maker_of(reference)
        if maker is not None and (_AUTHOR, maker.public.hex()) in self._facts:
            return True
        folders = () if file is None else file.absolute().parents
        return any((_FOLDER, str(folder)) in self._facts for folder in folders)

    def remember_object(self, reference: Reference) -> None:
        self._add(_OBJECT, str(fingerprint(reference)))

    def remember_author(self, maker: Maker) -> None:
        """Everything that they have signed, from now on; by their key, not by their name."""
        self._add(_AUTHOR, maker.public.hex())

    def remember_folder(self, folder: Path) -> None:
        self._add(_FOLDER, str(folder.absolute()))

    @property
    def trusts_others(self) -> bool:
        """Whether authors or folders are trusted."""
        return any(word != _OBJECT for word, _ in self._facts)

    def forget_others(self) -> None:
        """Trusts no author and no folder any more; objects that are known stay known."""
        self._facts = {fact for fact in self._facts if fact[0] == _OBJECT}
        try:
            lines = self._file.read_bytes().splitlines(keepends=True)
            gone = (f"{_AUTHOR} ".encode(), f"{_FOLDER} ".encode())
            kept = (line for line in lines if not line.startswith(gone))
            write_whole(self._file, b"".join(kept))
        except FileNotFoundError:
            return
        except OSError as problem:
            log.warning("%s cannot be written: %s", self._file.name, problem)

    def _add(self, word: str, value: str) -> None:
        if (word, value) in self._facts or "\n" in value:
            return
        self._facts.add((word, value))
        try:
            known = self._file.read_bytes() if self._file.exists() else b""
            if known and not known.endswith(b"\n"):
                known += b"\n"
            write_whole(self._file, known + f"{word} {value}\n".encode())
        except (OSError, UnicodeError) as problem:
            log.warning("%s cannot be written: %s", self._file.name, problem)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as problem:
        log.warning("%s cannot be read and is passed over: %s", file.name, problem)
        return []
