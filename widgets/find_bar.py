"""Finding and replacing words in a shared text: a bar above the page."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QTextEdit,
    QToolButton,
    QWidget,
)

from liveobj.documents import DocumentError, Text
from liveobj.documents.text import utf16_length
from liveobj.richtext.model import Run, read_marks
from widgets.icons import icon_button
from widgets.inner_text import InnerText
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.shared_text_edit import SharedTextEdit
from widgets.theme import Theme
from widgets.throttle import QtAlarm, Throttle

PLACES_MAX = 5000
_SHOWN_MAX = 500
_REFRESH_S = 0.2
# Narrower than this, replacing has a row of its own.
_ONE_ROW_FROM_PX = 680


@dataclass(frozen=True, slots=True)
class Found:
    """One place, from `start` to `end` of the text, or of a text inside it that stands at
    `position`; `number` tells which of those it is."""

    start: int
    end: int
    position: int
    number: int = 0
    inner: InnerText | None = field(default=None, compare=False)

    def order(self) -> tuple[int, int, int]:
        """As one reads."""
        return self.position, self.number, self.start


class FindBar(QFrame):
    """Attributes: `words`, `replacement` (fields), `places` (what was found, in the order in which
    one reads, in cells of tables too). Signals: `closed`."""

    closed = Signal()

    def __init__(self, theme: Theme, editor: SharedTextEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        kind(self, "bar")
        self._theme = theme
        self._editor = editor
        self.places: list[Found] = []
        self.words = QLineEdit()
        self.words.setPlaceholderText(tr("Find"))
        self.words.setAccessibleName(tr("Find"))
        self.replacement = QLineEdit()
        self.replacement.setPlaceholderText(tr("Replace by"))
        self.replacement.setAccessibleName(tr("Replace by"))
        self._count = label("", "muted")
        self._count.setMinimumWidth(24 * SPACE_PX)
        self.match_case = QToolButton()
        self.match_case.setText("Aa")
        self.match_case.setCheckable(True)
        self.match_case.setToolTip(tr("Capital letters matter"))
        self.match_case.setAccessibleName(tr("Capital letters matter"))
        self._replace = QPushButton(tr("Replace"))
        self._replace_all = QPushButton(tr("Replace all"))
        self._lay_out()
        self._refresh = Throttle(self.find_all, QtAlarm(self), _REFRESH_S)
        self.words.textChanged.connect(lambda _: self._find_from_caret())
        self.match_case.toggled.connect(lambda _: self._find_from_caret())
        self._replace.clicked.connect(self.replace_one)
        self._replace_all.clicked.connect(self.replace_all)
        editor.document().contentsChanged.connect(self._on_text)
        self.hide()

    def _lay_out(self) -> None:
        self._rows = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._rows.setContentsMargins(4 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX, 2 * SPACE_PX)
        self._rows.setSpacing(2 * SPACE_PX)
        self._finding, self._replacing = QHBoxLayout(), QHBoxLayout()
        for row in (self._finding, self._replacing):
            row.setSpacing(2 * SPACE_PX)
            self._rows.addLayout(row, 1)
        self._finding.addWidget(self.words, 1)
        self._finding.addWidget(self._count)
        back = icon_button(
            self._theme, "chevron-up", tr("Previous place"), lambda: self.go(-1), "muted"
        )
        on = icon_button(self._theme, "chevron-down", tr("Next place"), lambda: self.go(1), "muted")
        self._finding.addWidget(back)
        self._finding.addWidget(on)
        self._finding.addWidget(self.match_case)
        self._replacing.addWidget(self.replacement, 1)
        self._replacing.addWidget(self._replace)
        self._replacing.addWidget(self._replace_all)
        self._close = icon_button(self._theme, "x", tr("Close"), self.close_bar, "muted")
        self._replacing.addWidget(self._close)
        editable = self._editor.replicated.editable
        for widget in (self.replacement, self._replace, self._replace_all):
            widget.setEnabled(editable)

    # Intents

    def open_bar(self) -> None:
        """Shows the bar; what is selected is what is looked for."""
        selected = self._editor.textCursor().selectedText()
        self.show()
        if selected and "\u2029" not in selected and len(selected) < 200:
            self.words.setText(selected)
        self.words.setFocus()
        self.words.selectAll()
        self.find_all()

    def close_bar(self) -> None:
        self._refresh.close()
        self.hide()
        self._editor.layers.show("found", [])
        self._editor.setFocus()
        self.closed.emit()

    def find_all(self) -> None:
        """Looks for all places; the one at the caret is the one that is counted."""
        self._editor.show_newest()
        self.places = [Found(*place, place[0]) for place in self._places_in(self._editor.text)]
        texts = self._editor.texts_inside() if self.words.text() else ()
        for number, inner in enumerate(texts, 1):
            for start, end in self._places_in(inner.rich.text):
                self.places.append(Found(start, end, inner.position, number, inner))
        self.places.sort(key=Found.order)
        del self.places[PLACES_MAX:]
        self._show_places()

    def _places_in(self, text: Text) -> list[tuple[int, int]]:
        return _places(text, self.words.text(), self.match_case.isChecked())

    def _here(self) -> Found:
        """What is selected, as if it had been found."""
        for number, inner in enumerate(self._editor.texts_inside(), 1):
            selected = inner.selected()
            if selected is not None:
                return Found(*selected, inner.position, number, inner)
        caret = self._editor.textCursor()
        return Found(caret.selectionStart(), caret.selectionEnd(), caret.selectionStart())

    def go(self, step: int) -> None:
        """To the next place (1) or the one before (-1), around the end."""
        self.find_all()
        if not self.places:
            return
        here = self._here()
        orders = [place.order() for place in self.places]
        if step > 0:
            at = (bisect_right if here in self.places else bisect_left)(orders, here.order())
        else:
            at = bisect_left(orders, here.order()) - 1
        self._show_place(self.places[at % len(self.places)])

    def _show_place(self, place: Found) -> None:
        focused = self.window().focusWidget()
        if place.inner is None:
            self._editor.select(place.start, place.end)
        else:
            place.inner.show(place.start, place.end)
        if focused is not None and self.isAncestorOf(focused):
            focused.setFocus()  # a cell that one is shown takes the keyboard
        self._show_places()

    def replace_one(self) -> None:
        """Replaces what is selected, if it is one of the places, and goes on."""
        self.find_all()
        here = self._here()
        if here in self.places:
            self._replace_places([here])
            self.find_all()
            end = here.start + utf16_length(self.replacement.text())
            self._show_place(replace(here, start=here.start, end=end))
        self.go(1)

    def replace_all(self) -> None:
        """Replaces every place, as one edit."""
        self.find_all()
        count = len(self.places)
        self._replace_places(self.places)
        self.find_all()
        self._count.setText(tr("{count} replaced", count=count))

    def _replace_places(self, places: Sequence[Found]) -> None:
        words = self.replacement.text()
        document = self._editor.replicated
        try:
            document.undo_boundary()
            with document.transaction("replace"):
                for place in reversed(places):
                    self._replace_place(place, words)
        except DocumentError as problem:
            self._count.setText(str(problem))
        self._editor.show_newest()
        self._editor.history_changed.emit()

    def _replace_place(self, place: Found, words: str) -> None:
        if place.inner is None:
            self._editor.replace_words(place.start, place.end, words)
            return
        rich = place.inner.rich
        marks = read_marks(rich.text.pieces(place.start, place.end)[0][1])
        rich.replace(place.start, place.end - place.start, [Run(words, marks)] if words else [])

    # Changes

    def _on_text(self) -> None:
        if self.isVisible():
            self._refresh.request()

    def _find_from_caret(self) -> None:
        self.find_all()
        if self.places:
            orders = [place.order() for place in self.places]
            at = bisect_left(orders, self._here().order())
            self._show_place(self.places[at % len(self.places)])

    def _show_places(self) -> None:
        here = self._here()
        if not self.words.text():
            self._count.setText("")
        elif here in self.places:
            number, count = self.places.index(here) + 1, len(self.places)
            self._count.setText(tr("{number} of {count}", number=number, count=count))
        else:
            self._count.setText(tr("{count} found", count=len(self.places)))
        grounds = [self._ground(place) for place in self._near(here)]
        self._editor.layers.show("found", grounds)

    def _near(self, here: Found) -> list[tuple[int, int]]:
        """As many places of the text as are worth painting, around the caret."""
        outer = [(place.start, place.end) for place in self.places if place.inner is None]
        if len(outer) <= _SHOWN_MAX:
            return outer
        middle = sum(place[0] < here.position for place in outer)
        start = max(0, middle - _SHOWN_MAX // 2)
        return outer[start : start + _SHOWN_MAX]

    def _ground(self, place: tuple[int, int]) -> QTextEdit.ExtraSelection:
        ground = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self._editor.document())
        cursor.setPosition(place[0])
        cursor.setPosition(place[1], QTextCursor.MoveMode.KeepAnchor)
        ground.cursor = cursor
        ground.format.setBackground(self._theme.colour("mark_orange"))
        return ground

    # Qt

    def minimumSizeHint(self) -> QSize:
        """Of two rows: it has them before it would need more room."""
        hint = super().minimumSizeHint()
        rows = [row.minimumSize().width() for row in (self._finding, self._replacing)]
        margins = self._rows.contentsMargins()
        return QSize(max(rows) + margins.left() + margins.right(), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        one_row = event.size().width() >= _ONE_ROW_FROM_PX
        direction = QBoxLayout.Direction
        wanted = direction.LeftToRight if one_row else direction.TopToBottom
        if self._rows.direction() is not wanted:
            self._rows.setDirection(wanted)
            (self._replacing if one_row else self._finding).addWidget(self._close)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.replacement.hasFocus():
                self.replace_one()
            else:
                shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                self.go(-1 if shift else 1)
        else:
            super().keyPressEvent(event)


def _places(searched: Text, words: str, match_case: bool) -> list[tuple[int, int]]:
    if not words:
        return []
    text = searched.to_string()
    pattern = re.compile(re.escape(words), 0 if match_case else re.IGNORECASE)
    simple = searched.length == len(text)
    places: list[tuple[int, int]] = []
    units = at = 0
    for found in pattern.finditer(text):
        if simple:
            places.append(found.span())
        else:
            start = units + utf16_length(text[at : found.start()])
            end = start + utf16_length(found[0])
            places.append((start, end))
            units, at = end, found.end()
        if len(places) >= PLACES_MAX:
            break
    return places
