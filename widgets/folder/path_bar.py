"""Where one is in folders inside folders: the way back, and every step of the way."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import kind, label
from widgets.theme import Theme

_STEP_PX_MAX = 180


class PathBar(QWidget):
    """Attributes: `path`, the titles that are shown. Signals: `chosen(depth)`."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.path: list[str] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(2)
        self.back = QToolButton()
        show_icon(self.back, theme, "arrow-left")
        self.back.setAccessibleName(tr("Back"))
        self.back.clicked.connect(lambda: self.chosen.emit(len(self.path) - 2))
        self._row.addWidget(self.back)
        self._steps = QHBoxLayout()
        self._row.addLayout(self._steps)
        self._row.addStretch(1)

    def show_path(self, path: Sequence[str]) -> None:
        """Takes the titles from the outermost folder to the one that is shown."""
        if list(path) == self.path:
            return
        self.path = list(path)
        self.back.setVisible(len(path) > 1)
        while (item := self._steps.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        for depth, title in enumerate(path):
            if depth:
                self._steps.addWidget(label("›", "muted"))
            self._steps.addWidget(self._step(depth, title))

    def _step(self, depth: int, title: str) -> QToolButton:
        button = QToolButton()
        kind(button, "step" if depth < len(self.path) - 1 else "last-step")
        shown = button.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, _STEP_PX_MAX)
        button.setText(shown.replace("&", "&&"))
        button.setAccessibleName(title)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self.chosen.emit(depth))
        return button
