"""What stands in a document as one character, shown: images painted, tables and objects as widgets.

The text keeps room for each; those that can be seen get a widget over their room, and it is put
away when they cannot. What nobody here knows is a quiet grey card and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPyTextObject, QTextBlock, QTextDocument, QTextFormat
from PySide6.QtWidgets import QWidget

from liveobj.documents.document import Change
from liveobj.objects.rich_document import TEXT_NAME, RichBody
from liveobj.richtext.rich_text import EMBED
from liveobj.richtext.rich_text import OBJECT as OBJECT_CHARACTER
from widgets.document.rich_editor import RichEditor
from widgets.document.rich_look import OBJECT_TYPE, marks_of
from widgets.language import tr
from widgets.theme import Theme
from widgets.throttle import QtAlarm, Throttle

_CARD_HEIGHT_PX = 44
_MARGIN_PX = 2


class Shown:
    """One embedded thing on the screen; a subclass says how large it is and how it looks."""

    widget: QWidget | None = None

    def size(self, width_px: float) -> QSizeF:
        """What it takes of a page that is so wide."""
        return QSizeF(width_px, _CARD_HEIGHT_PX)

    def paint(self, painter: QPainter, rect: QRectF) -> None:
        """Paints it, if it is not a widget."""

    def renew(self) -> bool:
        """Reads again; True if it may have another size."""
        return True

    def show_in(self, parent: QWidget) -> None:
        """It comes into sight."""

    def put_away(self) -> None:
        """Nobody sees it any more; a widget of its own may go."""

    def close(self) -> None:
        self.put_away()


class Unknown(Shown):
    """What this version does not know, or what has not arrived yet."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def paint(self, painter: QPainter, rect: QRectF) -> None:
        painter.setPen(self._theme.colour("border"))
        painter.setBrush(self._theme.colour("sunken"))
        painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 8, 8)
        painter.setPen(self._theme.colour("muted"))
        words = tr("Something that is not here yet, or that this version cannot show.")
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, words)


Make = Callable[[str], Shown]


class _Room(QPyTextObject):
    """Answers Qt how much room a character takes, and paints into it."""

    def __init__(self, layer: EmbedLayer) -> None:
        super().__init__(layer)
        self._layer = layer

    def intrinsicSize(self, _document: QTextDocument, _position: int, look: QTextFormat) -> QSizeF:
        return self._layer.size_of(_name_in(look))

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        _document: QTextDocument,
        _position: int,
        look: QTextFormat,
    ) -> None:
        self._layer.paint(_name_in(look), painter, QRectF(rect))


class EmbedLayer(QObject):
    """All that is embedded in the text of one editor. `makers` gives the view of a thing by its
    kind."""

    def __init__(
        self, editor: RichEditor, body: RichBody, makers: dict[str, Make], theme: Theme
    ) -> None:
        super().__init__(editor)
        self._editor = editor
        self._body = body
        self._makers = makers
        self._theme = theme
        self._shown: dict[str, Shown] = {}
        self._kinds: dict[str, str] = {}
        self._gone: list[Shown] = []
        self._room = _Room(self)
        self._frame = Throttle(self._place, QtAlarm(self))
        self._renewals = Throttle(self._renew, QtAlarm(self))
        editor.document().documentLayout().registerHandler(OBJECT_TYPE, self._room)
        # What was laid out before the handler was there took no room.
        self._lay_out_all()
        editor.verticalScrollBar().valueChanged.connect(self._frame.request)
        editor.document().contentsChanged.connect(self._frame.request)
        editor.viewport().installEventFilter(self)
        self._subscription = body.embeds.observe(self._on_change)
        self._frame.request()

    def close(self) -> None:
        self._subscription.close()
        self._frame.close()
        self._renewals.close()
        self._let_go()
        for shown in self._shown.values():
            shown.close()
        self._shown.clear()

    def _let_go(self) -> None:
        """Of what something else is shown in place of."""
        gone, self._gone = self._gone, []
        for shown in gone:
            shown.close()

    # For the text

    def size_of(self, name: str) -> QSizeF:
        return self.shown(name).size(self.width)

    def paint(self, name: str, painter: QPainter, rect: QRectF) -> None:
        self.shown(name).paint(painter, rect)

    @property
    def width(self) -> float:
        pages = self._editor.pages
        wide = 0.0 if pages is None else pages.width_px  # None: it is closed
        return max(120.0, wide - 2 * _MARGIN_PX)

    def shown(self, name: str) -> Shown:
        """The view of a thing, made when it is first asked for."""
        kind = self._body.embeds.kind(name)
        if name not in self._shown or self._kinds[name] != kind:
            if name in self._shown:
                # Qt asks in the middle of an edit; what goes may have the keyboard, and waits.
                self._gone.append(self._shown[name])
                self._frame.request()
            maker = self._makers.get(kind)
            self._shown[name] = Unknown(self._theme) if maker is None else maker(name)
            self._kinds[name] = kind
        return self._shown[name]

    # Changes

    def _on_change(self, change: Change) -> None:
        if change.containers - {TEXT_NAME}:
            self._renewals.request()

    def size_changed(self, name: str) -> None:
        """One thing takes another room now."""
        for position in self.positions(name):
            self._editor.document().markContentsDirty(position, 1)
        self._frame.request()

    def _renew(self) -> None:
        for name, shown in list(self._shown.items()):
            if self._kinds[name] != self._body.embeds.kind(name) or shown.renew():
                self.size_changed(name)
        self._editor.viewport().update()

    def _lay_out_all(self) -> None:
        for position, _ in self.all():
            self._editor.document().markContentsDirty(position, 1)

    def all(self) -> Iterator[tuple[int, str]]:
        """Position and name of everything that is embedded."""
        for position in self._editor.places_of(OBJECT_CHARACTER):
            name = self._name_at(position)
            if name:
                yield position, name

    def positions(self, name: str) -> list[int]:
        return [position for position, found in self.all() if found == name]

    def _in_block(self, block: QTextBlock) -> Iterator[tuple[int, str]]:
        if OBJECT_CHARACTER not in block.text():
            return
        piece = block.begin()
        while not piece.atEnd():
            fragment = piece.fragment()
            name = _name_in(fragment.charFormat())
            if name:
                for offset in range(fragment.length()):
                    yield fragment.position() + offset, name
            piece += 1

    # Places

    def rect_of(self, position: int) -> QRectF:
        """The room of the thing at a position, in the viewport."""
        document = self._editor.document()
        block = document.findBlock(position)
        offset = document.documentLayout().blockBoundingRect(block).topLeft()  # lays it out
        layout = block.layout()
        line = layout.lineForTextPosition(position - block.position())
        if not line.isValid():
            return QRectF()
        size = self.size_of(self._name_at(position))
        found: Any = line.cursorToX(position - block.position())  # with the position it used
        left = float(found[0] if isinstance(found, tuple) else found)
        top = line.y() + line.ascent() - size.height()
        return QRectF(offset + QPointF(left, top), size).translated(
            -self._editor.horizontalScrollBar().value(), -self._editor.verticalScrollBar().value()
        )

    def _name_at(self, position: int) -> str:
        return _name_in(self._editor.format_at(position + 1))

    def at(self, point: QPoint) -> tuple[int, str, QRectF] | None:
        """Position, name and room of what is under a point of the viewport."""
        for position, name in self._visible():
            rect = self.rect_of(position)
            if rect.contains(QPointF(point)):
                return position, name, rect
        return None

    def _visible(self) -> Iterator[tuple[int, str]]:
        area = self._editor.viewport().rect()
        block = self._editor.cursorForPosition(QPoint(0, 0)).block()
        layout = self._editor.document().documentLayout()
        bottom = area.bottom() + self._editor.verticalScrollBar().value()
        while block.isValid() and layout.blockBoundingRect(block).top() <= bottom:
            yield from self._in_block(block)
            block = block.next()

    def place_now(self) -> None:
        """Makes the widgets of what can be seen, without waiting for the next frame."""
        self._frame.request()
        self._frame.flush()

    def _place(self) -> None:
        """Widgets over the rooms that can be seen; all others are put away."""
        self._let_go()
        seen: set[str] = set()
        viewport = self._editor.viewport()
        for position, name in self._visible():
            if name in seen:
                continue  # the same thing twice: one widget can be in one place
            shown = self.shown(name)
            rect = self.rect_of(position).toAlignedRect()
            if not rect.intersects(viewport.rect()):
                continue
            seen.add(name)
            shown.show_in(viewport)
            if shown.widget is not None:
                if shown.widget.geometry() != rect:
                    shown.widget.setGeometry(QRect(rect))
                shown.widget.setVisible(True)
        for name, shown in list(self._shown.items()):
            if name not in seen:
                shown.put_away()
                if shown.widget is not None and not self.positions(name):
                    # One writes in it, but it is not in the text any more.
                    del self._shown[name]
                    shown.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._lay_out_all()
            self._frame.request()
        return super().eventFilter(watched, event)


def _name_in(look: QTextFormat) -> str:
    found = marks_of(look.toCharFormat()).get(EMBED)
    return found if isinstance(found, str) else ""
