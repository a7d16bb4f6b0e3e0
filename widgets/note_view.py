"""The view of a text note: its editor, edge to edge, with its past and its comments."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from liveobj.documents import Document
from liveobj.objects.text_note import TEMPLATE_ID, TEXT_NAME, TextNote
from widgets.language import tr
from widgets.note_editor import NoteEditor
from widgets.object_kind import ObjectKind
from widgets.shared_text_edit import PAGE_MARGIN_PX
from widgets.writing_view import WritingView


class NoteView(WritingView):
    """Attributes: `editor`."""

    _word = "note"
    editor: NoteEditor

    def make_editor(self) -> NoteEditor:
        note = self.opening.shared
        assert isinstance(note, TextNote), "the kind says what is opened"
        return NoteEditor(self.around.theme, note)

    def make_past(self, document: Document) -> QWidget:
        page = QTextEdit()
        page.setReadOnly(True)
        page.setFrameShape(QTextEdit.Shape.NoFrame)
        page.setAccessibleName(tr("The note as it was"))
        page.setPlainText(document.text(TEXT_NAME).to_string())
        margins = self.editor.viewportMargins()
        page.setViewportMargins(margins.left(), PAGE_MARGIN_PX, PAGE_MARGIN_PX, 0)
        page.moveCursor(QTextCursor.MoveOperation.Start)
        return page


KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Note"),
    sentence=tr("A text that several people write together"),
    icon="file-text",
    view=NoteView,
)
