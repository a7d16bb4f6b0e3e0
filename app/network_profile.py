"""What a profile knows of the network: its scope, who its user is, whom it met, where its events
are logged."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.errors import StartProblem
from app.paths import Paths
from app.version import VERSION
from transport.binding import counter_names
from transport.errors import TransportError
from transport.event_log import EventLog
from transport.identities import Identity
from transport.peer_book import PeerBook
from transport.scope_records import ScopeRecords
from transport.scopes import NEARBY, Scope, scope_label
from transport.secrets_file import write_private
from widgets.language import tr


@dataclass(frozen=True, slots=True)
class NetworkProfile:
    """The files of one profile that concern the network."""

    scope_file: Path
    identity_file: Path
    records_file: Path
    peers_file: Path
    events: Path
    # Scopes that an installer may have left for everybody who has joined none of their own.
    given_scope_files: tuple[Path, ...] = ()

    @classmethod
    def of(cls, paths: Paths) -> NetworkProfile:
        return cls(
            paths.config / "scope",
            paths.config / "identity",
            paths.config / "scope-members",
            paths.state / "peers.json",
            paths.state / "events",
            tuple(folder / "scope" for folder in paths.given),
        )

    def scope(self) -> Scope:
        """The scope that this profile has joined; else the one that came with the program, else
        Nearby."""
        file = next((f for f in (self.scope_file, *self.given_scope_files) if f.exists()), None)
        if file is None:
            return NEARBY
        try:
            return Scope.read(file)
        except TransportError as problem:
            raise StartProblem(
                tr(
                    "The scope of this profile is unreadable: {problem}, or leave it with"
                    " live-objects scope leave.",
                    problem=str(problem)[:-1],
                )
            ) from None

    def join(self, scope: Scope) -> None:
        """From the next start on, this profile is in that scope."""
        try:
            self.scope_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self.scope_file, scope.invitation() + "\n", replace=True)
        except OSError as problem:
            raise StartProblem(
                tr(
                    "{file} cannot be written: {reason}.",
                    file=self.scope_file,
                    reason=problem.strerror,
                )
            ) from None
        except TransportError as problem:
            raise StartProblem(str(problem)) from None

    def leave(self) -> None:
        """From the next start on, this profile is in the scope that everybody is in."""
        if any(file.exists() for file in self.given_scope_files):
            self.join(NEARBY)  # Having none of its own would mean the one that is given.
            return
        try:
            self.scope_file.unlink(missing_ok=True)
        except OSError as problem:
            raise StartProblem(
                tr(
                    "{file} cannot be removed: {reason}.",
                    file=self.scope_file,
                    reason=problem.strerror,
                )
            ) from None

    def scope_records(self, scope: Scope) -> ScopeRecords:
        """Who is in the private scope, and how its key was renewed."""
        return ScopeRecords(self.records_file, scope)

    def identity(self) -> Identity:
        """Who the user of this profile is to others; made at the first start."""
        try:
            self.identity_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return Identity.load_or_create(self.identity_file, os.urandom)
        except OSError as problem:
            raise StartProblem(
                tr(
                    "{file} cannot be written: {reason}.",
                    file=self.identity_file,
                    reason=problem.strerror,
                )
            ) from None
        except TransportError as problem:
            raise StartProblem(
                tr(
                    "Your identity cannot be used: {problem} Without that file you are somebody"
                    " new.",
                    problem=problem,
                )
            ) from None

    def book(self) -> PeerBook:
        return PeerBook(self.peers_file)

    def pseudonym(self) -> str:
        """Whom the event log means by this profile's user: drawn once, and of no use elsewhere.
        Empty when it cannot be kept: then nothing is logged of anybody."""
        file = self.events / "person"
        try:
            if not file.exists():
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_private(file, os.urandom(8).hex())
            kept = file.read_text(encoding="ascii").strip()
        except (OSError, ValueError, TransportError):
            return ""
        return kept if len(kept) == 16 and kept.isalnum() else ""

    def open_log(self, scope: Scope, on_closed: Callable[[], None]) -> EventLog:
        """The event log of one run; makes no file before there is something to write."""
        return EventLog(
            self.events,
            program=f"live-objects {VERSION}",
            scope_label=scope_label(scope),
            counter_names=counter_names(),
            wall_ns=time.time_ns,
            clock=time.monotonic,
            on_closed=on_closed,
        )
