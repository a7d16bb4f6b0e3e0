"""What a person has chosen: one small file that survives being broken or missing."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from app.json_file import load_object, save_json
from liveobj.channels.presence import NAME_CHARACTERS_MAX
from liveobj.observers import Observers, Subscription
from widgets.roles import Mode, is_colour, person_colour_for


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices. `colour` is `#rrggbb`; `language` is a code like `de`, or empty for that of the
    system; `event_log` is whether the network's events are kept; `activity_log` whether they say,
    under a pseudonym, what this person opened and edited; `presence_hidden` whether others
    are not told who and where one is; `restore` whether what was open is opened again; `prefetch`
    whether what usually is opened next is brought up to date before; `introduced` whether the
    person has chosen who they are; `interface` is the network interface that they prefer, by
    name."""

    name: str
    colour: str
    theme: str = Mode.SYSTEM.value
    language: str = ""
    event_log: bool = True
    activity_log: bool = False
    presence_hidden: bool = False
    restore: bool = True
    prefetch: bool = True
    introduced: bool = False
    interface: str = ""


_SWITCHES = tuple(field.name for field in fields(Settings) if field.type == "bool")


def load_settings(file: Path) -> Settings:
    """The saved settings; what is missing or damaged there is as at the first start."""
    stored = load_object(file)
    name = stored.get("name")
    if not isinstance(name, str) or not name.strip():
        name = system_name()
    name = name.strip()[:NAME_CHARACTERS_MAX]
    settings = Settings(name, person_colour_for(name).light)
    colour, theme, language = stored.get("colour"), stored.get("theme"), stored.get("language")
    if isinstance(colour, str) and is_colour(colour):
        settings = replace(settings, colour=colour)
    if isinstance(theme, str) and theme in {mode.value for mode in Mode}:
        settings = replace(settings, theme=theme)
    if isinstance(language, str) and len(language) <= 20:
        settings = replace(settings, language=language)
    interface = stored.get("interface")
    if isinstance(interface, str) and len(interface) <= 15 and interface.isprintable():
        settings = replace(settings, interface=interface)
    chosen = {name: stored[name] for name in _SWITCHES if isinstance(stored.get(name), bool)}
    return replace(settings, **chosen)


def save_settings(file: Path, settings: Settings) -> None:
    """Writes the settings whole or not at all."""
    save_json(file, asdict(settings))


def system_name() -> str:
    """What the system calls this user."""
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return "Someone"
    return entry.pw_gecos.split(",")[0].strip() or entry.pw_name.capitalize()


class SettingsKeeper:
    """The settings in force. Attributes: `now`. What is changed is on disk at once, and whoever
    observes is told."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.now = load_settings(file)
        self._observers: Observers[Settings] = Observers()

    def change(self, **values: Any) -> None:
        """Takes over some choices, by their names."""
        changed = replace(self.now, **values)
        if changed != self.now:
            self.now = changed
            save_settings(self._file, changed)
            self._observers.notify(changed)

    def observe(self, callback: Callable[[Settings], None]) -> Subscription:
        return self._observers.observe(callback)
