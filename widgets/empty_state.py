"""What a place shows while nothing is in it: a picture, one sentence, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from widgets.icons import show_picture
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

_PICTURE = QSize(240, 168)


class EmptyState(QWidget):
    """A drawing, a heading, one sentence and a button for each action, the first one coloured."""

    def __init__(
        self,
        theme: Theme,
        picture: str,
        heading: str,
        sentence: str,
        actions: Sequence[QAction] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3 * SPACE_PX)
        self._drawing = QLabel()
        self._drawing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        show_picture(self._drawing, theme, picture, _PICTURE)
        words = label(sentence, "reading", wrap=True, centred=True)
        words.setFixedWidth(105 * SPACE_PX)
        words.ensurePolished()
        words.setFixedHeight(words.heightForWidth(words.width()))
        # However tall the page is, the parts stay together in its middle.
        column.addStretch(1)
        column.addWidget(self._drawing)
        column.addSpacing(2 * SPACE_PX)
        column.addWidget(label(heading, "title", centred=True))
        column.addWidget(words, 0, Qt.AlignmentFlag.AlignHCenter)
        if actions:
            column.addSpacing(3 * SPACE_PX)
            column.addLayout(_buttons(actions))
        column.addStretch(1)
        self._whole_px = self.sizeHint().height()

    # Qt

    def minimumSizeHint(self) -> QSize:
        """Of the words alone: they need the room more than the drawing."""
        hint = super().minimumSizeHint()
        shown = 0 if self._drawing.isHidden() else _PICTURE.height() + 3 * SPACE_PX
        return QSize(hint.width(), hint.height() - shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._drawing.setVisible(event.size().height() >= self._whole_px)


def action_button(action: QAction, name: str) -> QPushButton:
    """A button that does what the action does, and is enabled when the action is."""
    button = QPushButton(action.text())
    kind(button, name)
    button.setToolTip(action.toolTip())
    button.clicked.connect(action.trigger)

    def follow() -> None:
        button.setEnabled(action.isEnabled())

    follow()
    action.enabledChanged.connect(button.setEnabled)
    return button


def _buttons(actions: Sequence[QAction]) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(2 * SPACE_PX)
    row.addStretch(1)
    for number, action in enumerate(actions):
        row.addWidget(action_button(action, "primary" if number == 0 else "plain"))
    row.addStretch(1)
    return row
