"""A sentence that floats over the window for a moment: what has just been done, or why not."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from widgets.look import SPACE_PX, float_above, kind, label
from widgets.theme import Theme

SHOWN_MS = 5000
ASKED_MS = 30_000


class Notice(QFrame):
    """Floats above the foot of `window` and goes by itself; a click sends it away.

    Attributes: `text`, what it says.
    """

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        kind(self, "float")
        self._label = label("", "plain")
        self._run: Callable[[], object] | None = None
        self._button = QPushButton()
        kind(self._button, "primary")
        self._button.clicked.connect(self._on_button)
        self._button.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(4 * SPACE_PX, 3 * SPACE_PX, 4 * SPACE_PX, 3 * SPACE_PX)
        row.setSpacing(4 * SPACE_PX)
        row.addWidget(self._label)
        row.addWidget(self._button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self.hide()
        window.installEventFilter(self)

    @property
    def text(self) -> str:
        return self._label.text()

    def say(self, sentence: str) -> None:
        """Shows the sentence, in place of one that may still be there."""
        self._button.hide()
        self._show(sentence, SHOWN_MS)

    def ask(self, sentence: str, words: str, run: Callable[[], object]) -> None:
        """Shows the sentence with a button, for longer: there is something to decide."""
        self._run = run
        self._button.setText(words)
        self._button.show()
        self._show(sentence, ASKED_MS)

    def _on_button(self) -> None:
        self.hide()
        run, self._run = self._run, None
        if run is not None:
            run()

    def _show(self, sentence: str, shown_ms: int) -> None:
        self._label.setText(sentence)
        self.setAccessibleName(sentence)
        float_above(self, self._theme)
        self._place()
        self.show()
        self.raise_()
        self._timer.start(shown_ms)

    def _place(self) -> None:
        width_max = self._window.width() - 8 * SPACE_PX
        self._label.setWordWrap(self._label.sizeHint().width() > width_max)
        self.adjustSize()
        self.resize(min(self.width(), width_max), self.height())
        left = (self._window.width() - self.width()) // 2
        self.move(left, self._window.height() - self.height() - 14 * SPACE_PX)

    # Qt

    def mousePressEvent(self, _event: QMouseEvent) -> None:
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)
