"""The view of a text note: its editor, edge to edge."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from liveobj.objects.text_note import TEMPLATE_ID, TextNote, new_note
from liveobj.opening import Opening
from widgets.language import tr
from widgets.note_editor import NoteEditor
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView, Surroundings


class NoteView(ObjectView):
    """Attributes: `editor`."""

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        note = opening.shared
        assert isinstance(note, TextNote), "the kind says what is opened"
        self.editor = NoteEditor(around.theme, note)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.editor)
        self.setFocusProxy(self.editor)
        self.editor.history_changed.connect(self.changed)

    def undo_edit(self) -> None:
        self.editor.undo_edit()

    def redo_edit(self) -> None:
        self.editor.redo_edit()

    def show_newest(self) -> None:
        self.editor.show_newest()

    def show_person(self, node: int) -> None:
        self.editor.show_person(node)

    def describe(self) -> dict[str, Any]:
        return {
            "text": self.editor.toPlainText(),
            "carets": {caret.name: caret.position for caret in self.editor.remote_carets},
        }

    def close_view(self) -> None:
        self.editor.close_view()


KIND = ObjectKind(
    TEMPLATE_ID,
    word="note",
    title=tr("Note"),
    sentence=tr("A text that several people write together"),
    picture="note",
    icon="file-text",
    make=new_note,
    view=NoteView,
)
