"""Owns names of files that come from others: made harmless before anything is done with them."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

NAME_CHARACTERS_MAX = 120
_FORBIDDEN = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
# What the system would run, by the ends of names; and the first bytes of programs.
_RUN_WORDS = (
    "exe com bat cmd ps1 psm1 vbs vbe js jse wsf wsh msi msp scr pif cpl hta jar lnk url reg inf "
    "sh bash zsh csh fish run bin out appimage deb rpm flatpakref snap desktop py pyw pl rb php "
    "command app dmg pkg action workflow scpt docm xlsm pptm html htm svg xhtml mht"
)
_RUN_ENDS = frozenset(_RUN_WORDS.split())
_RUN_STARTS = (b"\x7fELF", b"MZ", b"#!", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def safe_name(name: object) -> str:
    """A name that is one part of a path on every system, shows as it is, and hides nothing."""
    if not isinstance(name, str):
        return "file"
    last = PureWindowsPath(PurePosixPath(name).name).name
    # Characters that turn the direction of writing make `exe.txt` of `txt.exe`.
    plain = "".join(c for c in last if unicodedata.category(c) not in ("Cf", "Cs", "Cc", "Co"))
    clean = _FORBIDDEN.sub("-", unicodedata.normalize("NFC", plain)).strip(" .")
    if len(clean) > NAME_CHARACTERS_MAX or len(clean.encode()) > 2 * NAME_CHARACTERS_MAX:
        stem, dot, end = clean.rpartition(".")
        keep = NAME_CHARACTERS_MAX // 2
        clean = f"{stem[:keep]}.{end[:16]}" if dot and stem else clean[:keep]
    if not clean or _RESERVED.fullmatch(clean):
        return f"file {clean}".strip()
    return clean


def could_run(name: str, first_bytes: bytes) -> bool:
    """Whether the system might run it, or something in it, instead of showing it."""
    end = name.lower().rpartition(".")[2] if "." in name else ""
    return end in _RUN_ENDS or first_bytes.startswith(_RUN_STARTS)
