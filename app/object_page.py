"""The page of one open object: its view, and what the window shows about it around the page."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.page_objects import PageObjects
from app.page_surroundings import PageSurroundings
from app.session import OpenObject
from liveobj.channels.presence import Presence
from liveobj.objects.copies import can_copy
from liveobj.objects.shared_document import SharedDocument, SharedState
from widgets.error_card import ErrorCard
from widgets.language import tr
from widgets.look import kind
from widgets.object_kind import ObjectKind
from widgets.object_tabs import TITLE_TO_EDIT
from widgets.object_view import ObjectView, Surroundings
from widgets.people import Here, ShownPerson
from widgets.state_words import not_saved_words
from widgets.throttle import QtAlarm, Throttle
from widgets.warning_bar import WarningBar


class ObjectPage(QWidget):
    """Attributes: `opened`, `view`, `kind`. Signals: `changed`: state, people or undo have
    changed, at most once per frame; `unsaved`, at once: something that was saved is so no more;
    `copy_asked`: the person wants a copy on another disk."""

    changed = Signal()
    unsaved = Signal()
    copy_asked = Signal()

    def __init__(
        self, around: Surroundings, opened: OpenObject, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        kind(self, "page")
        self.opened = opened
        self.kind: ObjectKind = opened.kind
        self._around = around
        # Carets move with every key of everybody; the window around hears of it once per frame.
        self._tell = Throttle(self._on_changed, QtAlarm(self))
        self._shows_unsaved = False
        shared = opened.opening.shared
        self._objects = PageObjects(shared, self._on_unsaved, self._on_state)
        inside = PageSurroundings(around, self._objects.add)
        self.view: ObjectView = opened.kind.view(inside, opened.opening)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.warning = WarningBar(
            around.theme,
            [
                (tr("Try again"), self._save_now),
                (tr("Save a copy elsewhere…"), self.copy_asked.emit),
            ],
        )
        self._column.setSpacing(0)
        self._column.addWidget(self.warning)
        self._column.addWidget(self.view, 1)
        self._show_title()
        self.view.changed.connect(self._tell.request)
        self._subscriptions = [
            shared.presence.observe(self._on_people),
            opened.opening.when_failed(self._on_failed),
        ]

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        """Gives the keyboard to the view; see there why this is no focus proxy."""
        self.view.setFocus(reason)

    @property
    def title(self) -> str:
        return self.opened.opening.title

    @property
    def file(self) -> Path:
        """The profile's own copy of the reference."""
        return self.opened.file

    @property
    def identity(self) -> str:
        return self.opened.identity

    @property
    def state(self) -> SharedState:
        """Saved only if what is shown inside the object is saved, too."""
        return self._objects.state

    @property
    def people(self) -> list[ShownPerson]:
        """Everybody in the object, oneself first, those who have just dropped out last."""
        presence = self.opened.opening.shared.presence
        mine = presence.mine
        return [
            ShownPerson(mine.name, mine.colour, me=True),
            *(
                ShownPerson(
                    entry.name,
                    entry.colour,
                    here=Here(entry.attention.value),
                    node=node,
                    fingerprint=entry.fingerprint,
                )
                for node, entry in sorted(presence.others.items())
            ),
            *(
                ShownPerson(entry.name, entry.colour, here=Here.LOST, node=node)
                for node, entry in sorted(presence.lost.items())
            ),
        ]

    def objects(self) -> list[SharedDocument]:
        """The object of the page, and those that are shown inside it."""
        return self._objects.all()

    def unsaved_objects(self) -> list[SharedDocument]:
        """Those of them with something that is not on the disk."""
        return self._objects.unsaved()

    def _save_now(self) -> None:
        for shared in self._objects.unsaved():
            shared.flush()
        self._around.say(tr("The disk still refuses.") if self.state.problem else tr("Saved."))

    def close_page(self) -> None:
        """Lets go of the object; the session closes it."""
        for subscription in self._subscriptions:
            subscription.close()
        self._objects.close()
        self._tell.close()
        self.view.close_view()

    def _on_unsaved(self) -> None:
        """Whoever sees a new letter sees in the same frame that it is not saved yet."""
        self._tell.request()
        if not self._shows_unsaved:
            self._shows_unsaved = True
            self.unsaved.emit()

    def _on_state(self) -> None:
        self._shows_unsaved = False
        self._tell.request()

    def _on_changed(self) -> None:
        self._show_title()
        state = self.state
        self.warning.warn("" if state.problem is None else not_saved_words(state.disk_full))
        if state.problem is not None:
            self.warning.buttons[-1].setVisible(any(map(can_copy, self._objects.unsaved())))
        self.changed.emit()

    def _show_title(self) -> None:
        """The tab lets one write another title only where that is allowed."""
        editable = self.opened.opening.shared.document.editable
        self.setProperty(TITLE_TO_EDIT, self.title if editable else None)

    def _on_people(self, _presence: Presence) -> None:
        self._tell.request()

    def _on_failed(self, problem: str) -> None:
        """The object has stopped; what was shown of it stays beneath, the reason is in front."""
        card = ErrorCard(self._around.theme, tr("{title} has stopped", title=self.title), problem)
        self._column.addWidget(card)
        self.view.setVisible(False)
        self._tell.request()
