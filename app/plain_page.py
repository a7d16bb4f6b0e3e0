"""The page of an object without a view: its card, and the moment when it turns out what it is."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.session import PlainObject
from liveobj.references import Reference
from liveobj.runtime import ProxyState
from widgets.look import kind
from widgets.plain_card import PlainCard
from widgets.theme import Theme


class PlainPage(QWidget):
    """Attributes: `opened`. Signals: `found(reference)` when what was asked for is here."""

    found = Signal(object)

    def __init__(self, theme: Theme, opened: PlainObject, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        kind(self, "page")
        self.opened = opened
        self.card = PlainCard(theme, opened.showing)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.card)
        self.setFocusProxy(self.card)
        self._subscription = opened.showing.observe(self._on_state)

    @property
    def title(self) -> str:
        return self.opened.showing.title

    @property
    def file(self) -> Path:
        """The profile's own copy of the reference."""
        return self.opened.file

    @property
    def identity(self) -> str:
        return self.opened.identity

    def now_found(self) -> Reference | None:
        """What an external reference turned out to be, if it runs."""
        running = self.opened.showing.state is ProxyState.RUNNING
        return self.opened.showing.found if running else None

    def close_page(self) -> None:
        self._subscription.close()

    def _on_state(self) -> None:
        self.card.show_state()
        reference = self.now_found()
        if reference is not None:
            self.found.emit(reference)
