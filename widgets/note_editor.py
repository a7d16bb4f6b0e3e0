"""The view in which one writes in a note: plain text, every line end the same."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtGui import QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from liveobj.objects.text_note import TEXT_NAME
from widgets import fonts
from widgets.language import tr
from widgets.shared_text_edit import SharedText, SharedTextEdit
from widgets.theme import Theme


class NoteEditor(SharedTextEdit):
    """Shows and edits the text of a note."""

    def __init__(
        self,
        theme: Theme,
        note: SharedText,
        clock: Callable[[], float] = time.monotonic,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, note, TEXT_NAME, clock, parent)

    def give_look(self) -> None:
        self.set_hint(tr("Write something. Everyone who has this note sees it at once."))
        self.setAccessibleName(tr("Note"))
        self.setAccessibleDescription(tr("The text of this note, shared with everyone who has it."))
        block = QTextBlockFormat()
        block.setLineHeight(
            fonts.LINE_HEIGHT * 100, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
        )
        QTextCursor(self.document()).mergeBlockFormat(block)
