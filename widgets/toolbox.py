"""Everything that can be made, as a grid of pictures with names; searched, walked with the arrow
keys, and folded to a column of pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QAction, QDrag, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QApplication,
    QGridLayout,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from widgets.drag import mime_of_kind
from widgets.icons import show_picture_icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

COLUMNS = 3
_PICTURE = QSize(32, 32)
_PICTURE_FOLDED = QSize(28, 28)
_TILE_PX = 60
# With fewer there is nothing to search for.
_SEARCH_FROM = 7
_STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Up: -COLUMNS,
    Qt.Key.Key_Down: COLUMNS,
}


@dataclass(frozen=True, slots=True)
class Tool:
    """One thing that can be made: the word of its kind, its picture, and the action that makes
    it."""

    word: str
    picture: str
    title: str
    sentence: str
    action: QAction


class _Tile(QToolButton):
    """A tool; dragged out, it is placed where it is dropped."""

    def __init__(self, word: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._word = word
        self._pressed_at = QPoint()

    # Qt

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_at = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        moved = (event.position().toPoint() - self._pressed_at).manhattanLength()
        held = bool(event.buttons() & Qt.MouseButton.LeftButton)
        if not held or moved < QApplication.startDragDistance():
            super().mouseMoveEvent(event)
            return
        drag = QDrag(self)
        drag.setMimeData(mime_of_kind(self._word))
        drag.setPixmap(self.icon().pixmap(_PICTURE, self.devicePixelRatioF()))
        self.setDown(False)
        drag.exec(Qt.DropAction.CopyAction)


def _nowhere(_word: str) -> bool:
    return False


class Toolbox(QWidget):
    """Attributes: `folded`, and `place`, which is asked first when a tool is chosen with Enter: it
    places one in the object in front, or says False."""

    place: Callable[[str], bool] = staticmethod(_nowhere)

    def __init__(self, theme: Theme, tools: Sequence[Tool], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tools = tuple(tools)
        self.folded = False
        self._heading = label(tr("TOOLBOX"), "section")
        self._heading.setContentsMargins(2 * SPACE_PX, SPACE_PX, 0, SPACE_PX)
        self._field = QLineEdit()
        kind(self._field, "filter")
        self._field.setPlaceholderText(tr("Find a tool"))
        self._field.setAccessibleName(tr("Find a tool"))
        self._field.setClearButtonEnabled(False)
        self._field.textChanged.connect(self._show_fitting)
        self._field.installEventFilter(self)
        self._hint = label("", "small", wrap=True)
        self._hint.setFixedHeight(8 * SPACE_PX)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._hint.setContentsMargins(2 * SPACE_PX, 0, SPACE_PX, 0)
        self._buttons = [self._button(tool) for tool in self._tools]
        inside = QWidget()
        kind(inside, "clear")
        self._grid = QGridLayout(inside)
        self._grid.setContentsMargins(0, 0, 0, SPACE_PX)
        self._grid.setSpacing(SPACE_PX)
        self._area = QScrollArea()
        kind(self._area, "clear")
        self._area.setFrameShape(QScrollArea.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(inside)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_PX)
        for part in (self._heading, self._field, self._area, self._hint):
            column.addWidget(part)
        self.set_folded(False)

    def set_folded(self, folded: bool) -> None:
        """One column of pictures, or a grid of pictures with names."""
        self.folded = folded
        style = (
            Qt.ToolButtonStyle.ToolButtonIconOnly
            if folded
            else Qt.ToolButtonStyle.ToolButtonTextUnderIcon
        )
        for button in self._buttons:
            button.setToolButtonStyle(style)
            button.setIconSize(_PICTURE_FOLDED if folded else _PICTURE)
            button.setFixedHeight(11 * SPACE_PX if folded else _TILE_PX)
        self._area.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            if folded
            else Qt.ScrollBarPolicy.ScrollBarAsNeeded
        )
        self._heading.setVisible(not folded)
        self._hint.setVisible(not folded)
        self._field.setVisible(not folded and len(self._tools) >= _SEARCH_FROM)
        self._show_fitting(self._field.text())

    def shown_tools(self) -> list[str]:
        """The titles that are shown now, in their order."""
        return [tool.title for tool, _ in self._fitting()]

    def places(self) -> dict[str, tuple[int, int]]:
        """The middle of each tool that is shown, on the screen, by the word of its kind."""
        result: dict[str, tuple[int, int]] = {}
        for tool, button in self._fitting():
            middle = button.mapToGlobal(button.rect().center())
            result[tool.word] = (middle.x(), middle.y())
        return result

    def _fitting(self) -> list[tuple[Tool, QToolButton]]:
        wanted = "" if self.folded else self._field.text().strip().casefold()
        return [
            (tool, button)
            for tool, button in zip(self._tools, self._buttons, strict=True)
            if wanted in f"{tool.title} {tool.sentence}".casefold()
        ]

    def _show_fitting(self, _text: str) -> None:
        columns = 1 if self.folded else COLUMNS
        while self._grid.takeAt(0) is not None:
            pass
        fitting = [button for _, button in self._fitting()]
        for button in self._buttons:
            button.setVisible(button in fitting)
        for number, button in enumerate(fitting):
            self._grid.addWidget(button, number // columns, number % columns)
        for number in range(COLUMNS):
            self._grid.setColumnStretch(number, 1 if number < columns else 0)
        rows = -(-len(fitting) // columns)
        height = rows * ((11 * SPACE_PX if self.folded else _TILE_PX) + SPACE_PX) + SPACE_PX
        # As high as what is in it; where the window is too low for that, it scrolls.
        self._area.setMinimumHeight(min(height, _TILE_PX + SPACE_PX))
        self._area.setMaximumHeight(max(height, 1))
        self._area.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        if not fitting:
            self._hint.setText(tr("No tool is called like that."))
        elif self._hint.text() == tr("No tool is called like that."):
            self._hint.clear()

    def _button(self, tool: Tool) -> QToolButton:
        button = _Tile(tool.word, self)
        kind(button, "tile")
        button.setText(tool.title.replace("&", "&&"))
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setMinimumWidth(1)
        button.setToolTip(f"{tool.title}: {tool.sentence}")
        button.setAccessibleName(tool.action.text())
        button.setAccessibleDescription(tool.sentence)
        show_picture_icon(button, self._theme, tool.picture)
        button.clicked.connect(tool.action.trigger)
        button.installEventFilter(self)
        return button

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._on_key(watched, event)
        if watched in self._buttons:
            tool = self._tools[self._buttons.index(watched)]
            if event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
                self._hint.setText(tool.sentence)
            elif event.type() in (QEvent.Type.Leave, QEvent.Type.FocusOut):
                self._hint.clear()
        return super().eventFilter(watched, event)

    def _choose(self, button: QToolButton) -> None:
        """With keys: placed in what is in front, or made in a tab of its own."""
        if not self.place(self._tools[self._buttons.index(button)].word):
            button.click()

    def _on_key(self, watched: QObject, event: QKeyEvent) -> bool:
        fitting = [button for _, button in self._fitting()]
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if watched is self._field:
            if event.key() == Qt.Key.Key_Down and fitting:
                fitting[0].setFocus(Qt.FocusReason.TabFocusReason)
            elif enter and fitting:
                self._choose(fitting[0])
            elif event.key() == Qt.Key.Key_Escape and self._field.text():
                self._field.clear()
            else:
                return False
            return True
        if watched not in fitting:
            return False
        here = fitting.index(watched)
        if enter:
            self._choose(fitting[here])
            return True
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None:
            return False
        if self.folded and abs(step) == COLUMNS:
            step //= COLUMNS
        if 0 <= here + step < len(fitting):
            fitting[here + step].setFocus(Qt.FocusReason.TabFocusReason)
        elif step < 0 and self._field.isVisible():
            self._field.setFocus(Qt.FocusReason.BacktabFocusReason)
        return True
