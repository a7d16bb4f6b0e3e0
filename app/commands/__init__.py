"""The registered commands, `live-objects NAME …`: a file each, listed here, imported when used."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from widgets.language import tr


class CommandModule(Protocol):
    """What the file of a command has."""

    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command by name; `summary` says what it does, in the language in force; `module` is
    imported only when the command is used."""

    name: str
    summary: Callable[[], str]
    module: str

    def load(self) -> CommandModule:
        return import_module(self.module)


COMMANDS: dict[str, CommandEntry] = {
    entry.name: entry
    for entry in (
        CommandEntry(
            "new", lambda: tr("make a new note and write its reference file"), "app.commands.new"
        ),
        CommandEntry(
            "inspect", lambda: tr("say what a reference file refers to"), "app.commands.inspect"
        ),
        CommandEntry(
            "check", lambda: tr("say whether a reference file is in order"), "app.commands.check"
        ),
        CommandEntry(
            "describe",
            lambda: tr("say what the running program shows, as JSON"),
            "app.commands.describe",
        ),
        CommandEntry(
            "keep",
            lambda: tr("keep objects alive and on disk, without a window"),
            "app.commands.keep",
        ),
        CommandEntry(
            "fold",
            lambda: tr("let histories that rest take less room on this disk"),
            "app.commands.fold",
        ),
        CommandEntry(
            "gallery",
            lambda: tr("show every kind of object on a simulated network"),
            "app.commands.gallery",
        ),
        CommandEntry(
            "new-kind",
            lambda: tr("write a new kind of object into a checkout, for developers"),
            "app.commands.new_kind",
        ),
        CommandEntry("net", lambda: tr("show who is here, live or as JSON"), "app.commands.net"),
        CommandEntry(
            "doctor", lambda: tr("find out why another computer is not seen"), "app.commands.doctor"
        ),
        CommandEntry(
            "gms",
            lambda: tr("keep the list of members on this computer, without a window"),
            "app.commands.gms",
        ),
        CommandEntry(
            "bench",
            lambda: tr("measure how fast the engine is on this machine"),
            "app.commands.bench",
        ),
        CommandEntry(
            "feed", lambda: tr("keep tables and charts like files that change"), "app.commands.feed"
        ),
        CommandEntry(
            "pipeline",
            lambda: tr("jobs on event logs: figures, reports, plans"),
            "app.commands.pipeline",
        ),
        CommandEntry(
            "confined",
            lambda: tr("run a package apart; the program does that itself"),
            "app.commands.confined",
        ),
        CommandEntry(
            "identity",
            lambda: tr("show the fingerprint by which others know you"),
            "app.commands.identity",
        ),
        CommandEntry(
            "scope", lambda: tr("make, show, join and leave private networks"), "app.commands.scope"
        ),
    )
}
