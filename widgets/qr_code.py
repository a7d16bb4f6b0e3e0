"""A QR code on the screen."""

from __future__ import annotations

from collections.abc import Sequence

import segno
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

# Two pixels for each square of the largest code.
_CODE_PX = 248
# More squares than this to a side, and a telephone at arm's length cannot tell them apart.
_MODULES_MAX = 121


class QrCode(QWidget):
    """A QR code, black on white whatever the theme; nothing if the text is too long for one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: Sequence[Sequence[int]] = ()
        self.setFixedSize(QSize(_CODE_PX, _CODE_PX))

    def show_text(self, text: str) -> bool:
        """Draws the text; False if it does not fit."""
        try:
            code = segno.make_qr(text, error="l")
        except segno.DataOverflowError:
            self._rows = ()
        else:
            self._rows = [list(row) for row in code.matrix_iter(border=2)]
            if len(self._rows) > _MODULES_MAX:
                self._rows = ()
        self.update()
        return bool(self._rows)

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), Qt.GlobalColor.white)
        # In pixels of the screen, all squares alike: what is uneven is hard to scan.
        ratio = self.devicePixelRatioF()
        painter.scale(1 / ratio, 1 / ratio)
        whole = int(self.width() * ratio)
        side = whole // max(len(self._rows), 1)
        start = (whole - side * len(self._rows)) // 2
        for y, row in enumerate(self._rows):
            for x, dark in enumerate(row):
                if dark:
                    square = QRect(start + x * side, start + y * side, side, side)
                    painter.fillRect(square, Qt.GlobalColor.black)
        painter.end()
