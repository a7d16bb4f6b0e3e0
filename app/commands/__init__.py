"""The registered commands, `live-objects NAME …`: a file each, listed here, imported when used."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol


class CommandModule(Protocol):
    """What the file of a command has."""

    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command by name; `module` is imported only when the command is used."""

    name: str
    summary: str
    module: str

    def load(self) -> CommandModule:
        return import_module(self.module)


COMMANDS: dict[str, CommandEntry] = {
    entry.name: entry
    for entry in (
        CommandEntry("new", "make a new note and write its reference file", "app.commands.new"),
        CommandEntry("inspect", "say what a reference file refers to", "app.commands.inspect"),
        CommandEntry("check", "say whether a reference file is in order", "app.commands.check"),
        CommandEntry(
            "describe", "say what the running program shows, as JSON", "app.commands.describe"
        ),
        CommandEntry(
            "keep", "keep objects alive and on disk, without a window", "app.commands.keep"
        ),
        CommandEntry(
            "fold", "let histories that rest take less room on this disk", "app.commands.fold"
        ),
        CommandEntry(
            "gallery", "show every kind of object on a simulated network", "app.commands.gallery"
        ),
        CommandEntry("net", "show who is here, live or as JSON", "app.commands.net"),
        CommandEntry("doctor", "find out why another computer is not seen", "app.commands.doctor"),
        CommandEntry(
            "gms", "keep the list of members on this computer, without a window", "app.commands.gms"
        ),
        CommandEntry(
            "bench", "measure how fast the engine is on this machine", "app.commands.bench"
        ),
        CommandEntry("feed", "keep a table like a CSV file that changes", "app.commands.feed"),
        CommandEntry(
            "pipeline", "jobs on event logs: figures, reports, plans", "app.commands.pipeline"
        ),
        CommandEntry(
            "confined", "run a package apart; the program does that itself", "app.commands.confined"
        ),
        CommandEntry(
            "identity", "show the fingerprint by which others know you", "app.commands.identity"
        ),
        CommandEntry("scope", "make, show, join and leave private networks", "app.commands.scope"),
    )
}
