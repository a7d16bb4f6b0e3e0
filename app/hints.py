"""What the pipeline advises this profile: objects that go together, histories to fold.

The file comes from elsewhere and may hold anything: what is not of the form is passed over, and
whatever it says, only objects that were live here before are touched.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.json_file import load_object

log = logging.getLogger(__name__)

FORM = 1
FILE_BYTES_MAX = 16 << 20
GROUPS_MAX = 20_000
OTHERS_MAX = 5
_GROUP = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Hints:
    """By group: those that go with it, and those to fold."""

    together: dict[str, tuple[str, ...]] = field(default_factory=dict)
    fold: tuple[str, ...] = ()


def read_hints(file: Path) -> Hints:
    """The advice in the file; none where it is missing, damaged or of another form."""
    try:
        if file.stat().st_size > FILE_BYTES_MAX:
            log.warning("%s is larger than any advice and is passed over", file.name)
            return Hints()
    except OSError:
        return Hints()
    stored = load_object(file)
    if stored.get("form") != FORM:
        return Hints()
    together = stored.get("together")
    pairs = {
        group: others
        for group, listed in (together.items() if isinstance(together, dict) else ())
        if _GROUP.fullmatch(group) and (others := _groups(listed, OTHERS_MAX))
    }
    return Hints(dict(list(pairs.items())[:GROUPS_MAX]), _groups(stored.get("fold"), GROUPS_MAX))


def _groups(listed: Any, most: int) -> tuple[str, ...]:
    if not isinstance(listed, list):
        return ()
    texts = [each for each in listed if isinstance(each, str) and _GROUP.fullmatch(each)]
    return tuple(dict.fromkeys(texts))[:most]
