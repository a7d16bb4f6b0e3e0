"""Invitations to a private network that go from hand to hand: as a QR code, a text, a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QGuiApplication

from app.errors import StartProblem
from app.invitation_files import INVITATION, read_invitation_file
from app.network_profile import NetworkProfile
from app.window import MainWindow
from transport.errors import TransportError
from transport.scopes import Scope
from transport.secrets_file import write_private
from widgets.language import tr
from widgets.office_network_page import OfficeNetworkPage


class ScopeInvitations:
    """Of one page. `join` takes the scope that somebody was invited to."""

    def __init__(
        self,
        window: MainWindow,
        page: OfficeNetworkPage,
        profile: NetworkProfile,
        join: Callable[[Scope], None],
    ) -> None:
        self._window = window
        self._page = page
        self._profile = profile
        self._join = join
        page.give_wanted.connect(self._give)
        page.copy_wanted.connect(self._copy)
        page.save_wanted.connect(self._ask_save)
        page.file_wanted.connect(self._ask_open)

    # Giving one

    def _give(self) -> None:
        scope = self._scope()
        if scope is not None:
            self._page.show_invitation(scope.invitation())

    def _copy(self) -> None:
        scope = self._scope()
        if scope is not None:
            QGuiApplication.clipboard().setText(scope.invitation())
            self._page.say(tr("Copied. Whoever pastes it is in {network}.", network=scope.name))

    def _ask_save(self) -> None:
        scope = self._scope()
        if scope is not None:
            self._window.ask_where_to_save(
                tr("Save the invitation"),
                f"{scope.name.replace('/', ' ')}.scope",
                tr("Invitations") + " (*.scope)",
                lambda file: self.save(scope, file),
            )

    def save(self, scope: Scope, file: Path) -> None:
        """The person was asked whether a file that is there may go."""
        try:
            write_private(file, scope.invitation() + "\n", replace=True)
        except TransportError as problem:
            self._page.say(str(problem))
        else:
            self._page.say(tr("Saved {file}, for you alone to read.", file=file.name))

    def _scope(self) -> Scope | None:
        """The one to invite to; it may have been left, or its key renewed, meanwhile."""
        try:
            scope = self._profile.scope()
        except StartProblem as problem:
            self._page.say(str(problem))
            return None
        return scope if scope.private else None

    # Taking one

    def take_text(self, text: str) -> bool:
        """Joins by a text; whether it was meant to be an invitation."""
        if not text.strip().startswith(INVITATION):
            return False
        self._take(lambda: Scope.from_invitation(text))
        return True

    def _ask_open(self) -> None:
        self._window.ask_what_to_open(
            tr("Open an invitation"),
            tr("Invitations and pictures") + " (*.scope *.png *.jpg *.jpeg *.webp *.bmp *.gif);;"
            f"{tr('All files')} (*)",
            self.take_file,
        )

    def take_file(self, file: Path) -> None:
        self._take(lambda: read_invitation_file(file))

    def _take(self, read: Callable[[], Scope]) -> None:
        try:
            scope = read()
        except (StartProblem, TransportError) as problem:
            self._page.say(str(problem))
        else:
            self._join(scope)
