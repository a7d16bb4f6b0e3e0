"""What one sees of a long text stays where it is on the screen, whatever is edited or laid out."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QTextEdit

from widgets.lazy_layout import LazyLayout

# What was higher or lower than guessed brings other paragraphs onto the screen, a few times.
_TRIES_MAX = 4


class Sight:
    """Of one view. `pages` is its layout, if it is one for long texts."""

    def __init__(self, view: QTextEdit, pages: LazyLayout | None) -> None:
        self._view = view
        self._pages = pages

    def span(self) -> tuple[int, int]:
        """The part of the text that is on the screen."""
        corner = self._view.viewport().rect().bottomRight()
        first = self._view.cursorForPosition(QPoint(0, 0)).block()
        last = self._view.cursorForPosition(corner).block()
        return first.position(), last.position() + last.length()

    def mark(self) -> tuple[QTextCursor, int]:
        """What must not move, and how high it is: one's own caret, or else the first line."""
        view = self._view
        caret = QTextCursor(view.textCursor())
        if not view.viewport().rect().intersects(view.cursorRect(caret)):
            caret = view.cursorForPosition(QPoint(0, 0))
        caret.clearSelection()
        caret.setKeepPositionOnInsert(True)
        return caret, view.cursorRect(caret).top()

    def keep(self, mark: tuple[QTextCursor, int]) -> None:
        """Scrolls so that a place is as high on the screen as it was."""
        self._scroll_back(mark)
        self.lay_out()

    def lay_out(self) -> None:
        """What is on the screen; the caret stays where it is, if it is there."""
        pages = self._pages
        for _ in range(_TRIES_MAX if pages is not None else 0):
            top = self._view.verticalScrollBar().value()
            bottom = top + self._view.viewport().height()
            if pages is None or pages.is_ready(top, bottom):
                break
            mark = self.mark()
            pages.lay_out(top, bottom)
            self._scroll_back(mark)

    def lay_out_more(self, goes_on: Callable[[], bool]) -> bool:
        """What is not seen, as long as there is time; True if there is more."""
        if self._pages is None:
            return False
        mark = self.mark()
        more = self._pages.lay_out_more(goes_on)
        self.keep(mark)
        return more

    def _scroll_back(self, mark: tuple[QTextCursor, int]) -> None:
        place, top = mark
        shift = self._view.cursorRect(place).top() - top
        if shift:
            bar = self._view.verticalScrollBar()
            bar.setValue(bar.value() + shift)
