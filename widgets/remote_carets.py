"""Where the others are in a text: bars with names, painted over a text view in the theme's colours.

A caret that has just moved shows the whole name; a quiet one only the first letter, so that it
hides less of the text and still never speaks by colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QTextCursor
from PySide6.QtWidgets import QTextEdit

from widgets import fonts
from widgets.text_layers import TextLayers
from widgets.theme import Theme

ACTIVE_S = 4.0
NAME_CHARACTERS_MAX = 24

_BAR_WIDTH_PX = 2
_FLAG_HEIGHT_PX = 18
_FLAG_PADDING_PX = 6
_CORNER_PX = 4
_SELECTION_ALPHA = 56


@dataclass(frozen=True, slots=True)
class RemoteCaret:
    """One person's place in the text; `anchor` is where their selection began, or `position`."""

    node: int
    name: str
    colour: str
    position: int
    anchor: int


class RemoteCarets:
    """The carets of the others over one text view; `clock` is monotonic, in seconds."""

    def __init__(
        self, theme: Theme, view: QTextEdit, layers: TextLayers, clock: Callable[[], float]
    ) -> None:
        self._theme = theme
        self._view = view
        self._layers = layers
        self._clock = clock
        self._moved_s: dict[int, float] = {}
        self.carets: tuple[RemoteCaret, ...] = ()

    def show(self, carets: Iterable[RemoteCaret], *, moved: bool = True) -> bool:
        """Takes the newest places. `moved` says that their owners moved them, not the text around.
        True if anything is to be painted anew."""
        new = tuple(sorted(carets, key=lambda caret: caret.node))
        before = {caret.node: caret for caret in self.carets}
        for caret in new:
            if caret.node not in before or (moved and caret != before[caret.node]):
                self._moved_s[caret.node] = self._clock()
        self._moved_s = {caret.node: self._moved_s[caret.node] for caret in new}
        changed = new != self.carets
        self.carets = new
        if changed:
            self._layers.show("carets", [self._selection(caret) for caret in new])
        return changed

    def quiet_in_s(self) -> float | None:
        """How long until the next caret becomes quiet, to be painted anew; None if all are."""
        now_s = self._clock()
        left_s = [moved_s + ACTIVE_S - now_s for moved_s in self._moved_s.values()]
        return min((seconds for seconds in left_s if seconds > 0), default=None)

    def is_active(self, caret: RemoteCaret) -> bool:
        return self._clock() < self._moved_s[caret.node] + ACTIVE_S

    def paint(self, painter: QPainter) -> None:
        """Paints bars and flags in the view's viewport."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for caret in self.carets:
            self._paint_caret(painter, caret)

    def _paint_caret(self, painter: QPainter, caret: RemoteCaret) -> None:
        line = QRectF(self._view.cursorRect(self._cursor(caret.position, caret.position)))
        colour = self._theme.person_colour(caret.colour)
        bar = QRectF(line.left() - 1, line.top(), _BAR_WIDTH_PX, line.height())
        painter.fillRect(bar, colour)
        name = caret.name.strip()[:NAME_CHARACTERS_MAX] or "?"
        words = name if self.is_active(caret) else name[:1].upper()
        font = fonts.font(fonts.Size.SMALL, fonts.Weight.MEDIUM)
        width = QFontMetricsF(font).horizontalAdvance(words) + 2 * _FLAG_PADDING_PX
        above = bar.top() - _FLAG_HEIGHT_PX
        top = above if above >= 0 else bar.bottom()
        left = min(bar.left(), self._view.viewport().width() - width)
        flag = QRectF(left, top, width, _FLAG_HEIGHT_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(flag, _CORNER_PX, _CORNER_PX)
        painter.drawRect(QRectF(QPointF(left, flag.center().y()), QPointF(left + 4, flag.bottom())))
        painter.setPen(self._theme.colour("raised"))
        painter.setFont(font)
        painter.drawText(flag, Qt.AlignmentFlag.AlignCenter, words)

    def _selection(self, caret: RemoteCaret) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        selection.cursor = self._cursor(caret.anchor, caret.position)
        ground = QColor(self._theme.person_colour(caret.colour))
        ground.setAlpha(_SELECTION_ALPHA)
        selection.format.setBackground(ground)
        return selection

    def _cursor(self, anchor: int, position: int) -> QTextCursor:
        cursor = QTextCursor(self._view.document())
        last = self._view.document().characterCount() - 1
        cursor.setPosition(min(anchor, last))
        cursor.setPosition(min(position, last), QTextCursor.MoveMode.KeepAnchor)
        return cursor
