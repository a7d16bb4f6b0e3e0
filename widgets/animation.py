"""The further pictures of an animated one (GIF, WebP), as long as somebody looks.

Whoever paints a picture says so (`painted`), and only then comes the next one: what is hidden,
scrolled away or asleep stands still and costs nothing. One picture is unpacked at a time and none
is kept; one that takes long to unpack comes slower, and very large ones stand still.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QBuffer, QByteArray, QObject, Signal
from PySide6.QtGui import QImage, QImageReader

from widgets.reduced_motion import motion_wanted
from widgets.throttle import Alarm, QtAlarm

PIXELS_MAX = 4_000_000
_SIGNS = (b"GIF8", b"RIFF")
# Files that ask for more are shown as browsers do.
_DELAY_MIN_S, _DELAY_USUAL_S = 0.02, 0.1
# At most this part of the time goes into unpacking.
_SHARE_MAX = 0.2


def may_move(data: bytes) -> bool:
    """Whether bytes are of a kind that can hold several pictures."""
    return data.startswith(_SIGNS)


class Animation(QObject):
    """Signals: `stepped(image)`: the next picture is to be shown."""

    stepped = Signal(QImage)

    def __init__(
        self,
        data: bytes,
        parent: QObject,
        alarm: Alarm | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(parent)
        self._data = QByteArray(data)
        self._buffer = QBuffer(self)
        self._buffer.setData(self._data)
        self._alarm = QtAlarm(self) if alarm is None else alarm
        self._clock = clock
        self._reader: QImageReader | None = None
        # Pictures of this round, the rounds that were played, and how long the last one took.
        self._shown = self._played = 0
        self._unpacking_s = 0.0
        self._waiting = False
        self._over = False

    def painted(self) -> None:
        """The newest picture has been seen: the next one comes when its time has come."""
        if self._waiting or self._over or not motion_wanted():
            return
        if self._reader is None and self._begin().isNull():
            self.close()
            return
        self._waiting = True
        self._alarm.set(self._delay_s(), self._step)

    def close(self) -> None:
        """No further picture comes. Harmless when done twice."""
        self._over = True
        self._waiting = False
        self._alarm.clear()
        self._reader = None

    def _begin(self) -> QImage:
        """The first picture of a round; a null one if there can be no other after it."""
        self._buffer.close()
        self._buffer.open(QBuffer.OpenModeFlag.ReadOnly)
        reader = QImageReader(self._buffer)
        size = reader.size()
        moves = reader.supportsAnimation() and size.isValid()
        if not moves or size.width() * size.height() > PIXELS_MAX:
            return QImage()
        self._reader = reader
        self._shown = 1
        return reader.read()

    def _delay_s(self) -> float:
        assert self._reader is not None, "begun"
        delay_s = self._reader.nextImageDelay() / 1000
        usual_s = delay_s if delay_s >= _DELAY_MIN_S else _DELAY_USUAL_S
        return max(usual_s, self._unpacking_s / _SHARE_MAX)

    def _step(self) -> None:
        self._waiting = False
        if self._reader is None:
            return
        began_s = self._clock()
        image = self._reader.read()
        self._shown += 1
        if image.isNull():
            image = self._begin_again(self._reader.loopCount())
        self._unpacking_s = self._clock() - began_s
        if image.isNull():
            self.close()
        else:
            self.stepped.emit(image)

    def _begin_again(self, repeats: int) -> QImage:
        """After the last picture; a negative number repeats as long as one looks. What had only
        one, or is damaged after the first, stands still."""
        alone = self._shown == 2
        if alone or self._played == repeats:
            return QImage()
        self._played += 1
        return self._begin()
