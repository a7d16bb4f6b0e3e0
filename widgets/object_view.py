"""What every view of a live object has in common, and what a view may ask of the program around it.

A view shows one open object, in a tab or inside another object; it knows no window and no session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from liveobj.opening import Opening
from liveobj.references import Reference
from widgets.action import Action
from widgets.theme import Theme

if TYPE_CHECKING:
    from widgets.object_kind import Kinds, ObjectKind


class Surroundings(Protocol):
    """The program around a view. Nothing here blocks; problems are raised as `Problem`, whose text
    is for a person."""

    @property
    def theme(self) -> Theme: ...

    @property
    def kinds(self) -> Kinds:
        """Everything that can be shown and made."""

    def open(self, reference: Reference) -> Opening:
        """Opens an object to show it inside this one; whoever asks closes it."""

    def view(self, opening: Opening) -> ObjectView:
        """A view of an open object; whoever asks calls `close_view` and closes the opening."""

    def show(self, reference: Reference) -> None:
        """Shows an object in a tab of its own, and says so if it cannot be."""

    def make(self, kind: ObjectKind, title: str = "") -> Reference:
        """The reference of a new object, kept as a file of this person; without a title it gets
        one that is free."""

    def recent(self, word: str) -> list[tuple[str, Reference]]:
        """Titles and references of what was open lately of the kind of that word."""

    def knows(self, reference: Reference) -> bool:
        """Whether it may go live without a question: it was live here before, or is trusted."""

    def say(self, sentence: str) -> None:
        """Tells the person something that needs no answer."""

    def ask_for_files(self, title: str, filters: str, done: Callable[[list[Path]], None]) -> None:
        """Asks which files to read; `filters` as in QFileDialog. `done` may never be called."""

    def ask_where_to_save(
        self, title: str, name: str, filters: str, done: Callable[[Path], None]
    ) -> None:
        """Asks for the file to write."""


class ObjectView(QWidget):
    """Base of all views. Attributes: `around`, `opening`. Signals: `changed`: undo, actions or
    what `describe` says may be different now; a view may say so in every frame."""

    changed = Signal()

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.around = around
        self.opening = opening
        self._first: QWidget | None = None
        self._fields: set[tuple[int, str]] = set()

    # Qt takes a widget whose focus proxy is inside it for one control, and Tab would then pass over
    # everything else in it. So a view keeps to itself where its focus goes.

    def setFocusProxy(self, widget: QWidget | None) -> None:
        """What gets the keyboard when the view does."""
        self._first = widget

    def focusProxy(self) -> QWidget | None:
        return self._first

    def setFocus(self, reason: Qt.FocusReason = Qt.FocusReason.OtherFocusReason) -> None:
        if self._first is not None:
            self._first.setFocus(reason)
        else:
            super().setFocus(reason)

    # Own edits; a view with an undo of its own kind overrides these.

    @property
    def can_undo(self) -> bool:
        return self.opening.shared.document.can_undo

    @property
    def can_redo(self) -> bool:
        return self.opening.shared.document.can_redo

    def undo_edit(self) -> None:
        """Takes back one's own last edit; the others' stay."""
        self.opening.shared.document.undo()
        self.changed.emit()

    def redo_edit(self) -> None:
        """Does again what was taken back."""
        self.opening.shared.document.redo()
        self.changed.emit()

    def set_draft(self, field: str, typed: bool) -> None:
        """Records whether something is typed into a field of the view and not entered yet."""
        shared, key = self.opening.shared, (id(self), field)
        if key not in self._fields:
            self._fields.add(key)
            self.destroyed.connect(lambda: shared.set_draft(key, False))
        shared.set_draft(key, typed)

    # For whoever shows the view

    def finish_typing(self) -> None:
        """Enters what is typed and would be entered by leaving its field, such as a cell."""

    def actions_here(self) -> Sequence[Action]:
        """What can be done in this view besides what can be done with every object; asked again
        when it comes to the front and after `changed`. Identities begin with the kind's word."""
        return ()

    def show_newest(self) -> None:
        """Shows at once what would be shown in the next frame."""

    def show_person(self, node: int) -> None:
        """Brings the place where that person is into sight, where the view knows it; called again
        and again while one follows them."""

    def place_new(self, kind: ObjectKind) -> bool:
        """Makes a new object of that kind inside this one; False where nothing can be placed."""
        return False

    def describe(self) -> dict[str, Any]:
        """What the view shows, in words and numbers: for scripts, tests and those who cannot see
        it."""
        return {}

    def close_view(self) -> None:
        """Lets go of everything that is observed; the widget can then be deleted."""
