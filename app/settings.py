"""What a user has chosen and had open: two small files that survive being broken or missing."""

from __future__ import annotations

import json
import logging
import os
import pwd
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from widgets.home import RecentObject
from widgets.roles import Mode, is_colour, person_colour_for

log = logging.getLogger(__name__)

RECENT_MAX = 12


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices. `colour` is `#rrggbb`; `event_log` is whether the network's events are kept."""

    name: str
    colour: str
    theme: str = Mode.SYSTEM.value
    event_log: bool = True


def load_settings(file: Path) -> Settings:
    """The saved settings; what is missing or damaged there is as at the first start."""
    stored = _load_object(file)
    name = stored.get("name")
    if not isinstance(name, str) or not name.strip():
        name = system_name()
    settings = Settings(name, person_colour_for(name).light)
    colour, theme = stored.get("colour"), stored.get("theme")
    if isinstance(colour, str) and is_colour(colour):
        settings = replace(settings, colour=colour)
    if isinstance(theme, str) and theme in {mode.value for mode in Mode}:
        settings = replace(settings, theme=theme)
    return replace(settings, event_log=stored.get("event_log") is not False)


def save_settings(file: Path, settings: Settings) -> None:
    """Writes the settings whole or not at all."""
    _save(file, asdict(settings))


def system_name() -> str:
    """What the system calls this user."""
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return "Someone"
    return entry.pw_gecos.split(",")[0].strip() or entry.pw_name.capitalize()


class RecentList:
    """What was open lately, latest first; kept on disk at every change."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._entries = [entry for entry in _read_recent(file) if Path(entry.key).is_file()]

    @property
    def entries(self) -> tuple[RecentObject, ...]:
        return tuple(self._entries)

    def add(self, path: Path, title: str, kind: str) -> None:
        """Puts a reference file in front; `kind` is the word of its kind."""
        key = str(path)
        others = [entry for entry in self._entries if entry.key != key]
        self._entries = [RecentObject(key, title, key, kind), *others][:RECENT_MAX]
        _save(self._file, [asdict(entry) for entry in self._entries])


def _read_recent(file: Path) -> list[RecentObject]:
    entries = _load(file)
    if not isinstance(entries, list):
        return []
    return [
        RecentObject(entry["key"], entry["title"], entry["key"], str(entry.get("kind", "note")))
        for entry in entries[:RECENT_MAX]
        if isinstance(entry, dict)
        and isinstance(entry.get("key"), str)
        and isinstance(entry.get("title"), str)
    ]


def _load_object(file: Path) -> dict[str, Any]:
    stored = _load(file)
    return stored if isinstance(stored, dict) else {}


def _load(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.warning("%s cannot be read and is passed over: %s", file.name, error)
        return None


def _save(file: Path, content: object) -> None:
    new = file.with_suffix(".new")
    try:
        new.write_text(json.dumps(content, ensure_ascii=False, indent=2), encoding="utf-8")
        new.replace(file)
    except OSError as error:
        log.warning("%s cannot be written: %s", file.name, error)
