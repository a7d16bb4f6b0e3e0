"""The history of a text in place: a slider over its states, with who and when, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSlider, QVBoxLayout, QWidget

from liveobj.documents import Document
from liveobj.objects.authorship import Authors
from liveobj.objects.timeline import Stop, restore, stops
from liveobj.objects.writers import Writers
from widgets.elided_label import ElidedLabel
from widgets.language import tr
from widgets.look import SPACE_PX, kind
from widgets.theme import Theme
from widgets.throttle import QtAlarm, Throttle

_FRAME_S = 0.05


class HistoryBar(QFrame):
    """Attributes: `slider`, `restore_button`, `stops`. Signals: `shown(version)`: the state to be
    shown, None for the one now; `restored`."""

    shown = Signal(object)
    restored = Signal()

    def __init__(
        self,
        theme: Theme,
        document: Document,
        writers: Writers,
        authors: Authors | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        kind(self, "footer")
        self._theme = theme
        self._document = document
        self._writers = writers
        self._authors = authors
        self.stops: Sequence[Stop] = ()
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(tr("Go back in the history"))
        self.slider.setPageStep(1)
        self._words = ElidedLabel("", "strong")
        self._count = ElidedLabel("", "muted")
        self.restore_button = QPushButton(tr("Bring this back"))
        kind(self.restore_button, "primary")
        close = QPushButton(tr("Back to now"))
        row = QHBoxLayout()
        row.setSpacing(3 * SPACE_PX)
        row.addWidget(self._words)
        row.addWidget(self._count, 1)
        row.addWidget(close)
        row.addWidget(self.restore_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(4 * SPACE_PX, 3 * SPACE_PX, 4 * SPACE_PX, 3 * SPACE_PX)
        column.addLayout(row)
        column.addWidget(self.slider)
        self._frame = Throttle(self._show, QtAlarm(self), _FRAME_S)
        self.slider.valueChanged.connect(self._on_moved)
        self.restore_button.clicked.connect(self.bring_back)
        close.clicked.connect(self.close_bar)
        self.hide()

    @property
    def text(self) -> str:
        """Who and when, of what is shown."""
        return self._words.text()

    def open_bar(self) -> None:
        self.stops = stops(self._document, self._writers, self._authors)
        last = max(0, len(self.stops) - 1)
        self.slider.blockSignals(True)
        self.slider.setRange(0, last)
        self.slider.setValue(last)
        self.slider.blockSignals(False)
        self.show()
        self.slider.setFocus()
        self._on_moved()

    def close_bar(self) -> None:
        self._frame.close()
        self.hide()
        self.shown.emit(None)

    def bring_back(self) -> None:
        """Makes the text as it is shown, by a new edit; whoever wants can undo it."""
        stop = self._stop()
        if stop is not None and self._document.editable:
            restore(self._document, self._writers, stop.version)
            self.close_bar()
            self.restored.emit()

    def _stop(self) -> Stop | None:
        return self.stops[self.slider.value()] if self.stops else None

    def _on_moved(self) -> None:
        stop = self._stop()
        past = stop is not None and self.slider.value() < len(self.stops) - 1
        self.restore_button.setEnabled(past and self._document.editable)
        number = self.slider.value() + 1
        self._count.setText(tr("{number} of {count}", number=number, count=len(self.stops)))
        self._words.setText(tr("Nothing written yet") if stop is None else words_of(stop))
        self._frame.request()

    def show_now(self) -> None:
        """Shows at once what would be shown in the next frame."""
        self._frame.flush()

    def _show(self) -> None:
        stop = self._stop()
        if self.isVisible() and stop is not None:
            self.shown.emit(stop.version)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)


def words_of(stop: Stop) -> str:
    """Who and when."""
    who = stop.who or tr("Somebody")
    when = f" · {time_words(stop.seconds)}" if stop.seconds else ""
    signed = tr("signed")
    return who + when + (f" · {signed}" if stop.fingerprint else "")


def time_words(seconds: int) -> str:
    """A time as people write it; empty where there is none, or none that could be."""
    try:
        when = datetime.fromtimestamp(seconds).astimezone() if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return ""
    return "" if when is None else f"{when.day} {when:%b %Y, %H:%M}"
