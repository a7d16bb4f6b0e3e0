"""Places in a text that is shown: where the mouse points, where the selection is after edits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QMouseEvent, QTextCursor
from PySide6.QtWidgets import QTextEdit

from liveobj.documents.document import Origin
from liveobj.documents.text import TextChange, utf16_length
from widgets.backlog import moved


def onto_line(edit: QTextEdit, event: QMouseEvent) -> QMouseEvent:
    """The event on the line that it is next to. Qt takes the space between two lines for the
    beginning of the lower one, however far to the right one points."""
    shift = QPointF(edit.horizontalScrollBar().value(), edit.verticalScrollBar().value())
    at = event.position() + shift
    layout = edit.document().documentLayout()
    position = layout.hitTest(at, Qt.HitTestAccuracy.FuzzyHit)
    block = edit.document().findBlock(position)
    line = block.layout().lineForTextPosition(position - block.position())
    if not line.isValid():
        return event
    text = line.naturalTextRect().translated(layout.blockBoundingRect(block).topLeft())
    y = min(max(at.y(), text.top() + 1), text.bottom() - 1)
    if y == at.y() or abs(y - at.y()) > text.height():
        return event
    place = QPointF(at.x(), y) - shift
    far = event.globalPosition() + QPointF(0, y - at.y())
    buttons, keys = event.buttons(), event.modifiers()
    return QMouseEvent(event.type(), place, far, event.button(), buttons, keys)


def moved_selection(anchor: int, position: int, changes: Sequence[TextChange]) -> tuple[int, int]:
    """One's own selection after the changes. One's own undo takes the caret to where it acted."""
    for change in changes:
        if change.origin is Origin.UNDO:
            anchor = position = _end_of(change)
        else:
            first = position <= anchor
            position = moved(position, change.steps, stay=not (first and anchor != position))
            anchor = moved(anchor, change.steps, stay=first)
    return anchor, position


def paragraphs_around(caret: QTextCursor) -> tuple[int, int]:
    """The paragraphs of a selection, with the one before and the one after."""
    document = caret.document()
    first = document.findBlock(caret.selectionStart())
    last = document.findBlock(caret.selectionEnd()).next()
    start = first.previous().position() if first.previous().isValid() else 0
    end = last.position() + last.length() if last.isValid() else document.characterCount()
    return start, end


def _end_of(change: TextChange) -> int:
    """The place after the last thing that a change did."""
    at = end = 0
    for step in change.steps:
        at += step.retain + utf16_length(step.insert)
        if step.insert or step.delete:
            end = at
    return end
