"""Unpacks pictures beside the program's own work."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, QThreadPool, Signal
from PySide6.QtGui import QImage

from widgets.image.decoding import BadPicture, decode_picture

# Smaller ones are unpacked at once; larger ones beside the program's own work.
_AT_ONCE_BYTES_MAX = 300_000


class Unpacking(QObject):
    """Signals: `done(content, image, problem)`, in the thread of whoever made it."""

    done = Signal(str, QImage, str)

    def start(self, content: str, data: bytes) -> None:
        if len(data) <= _AT_ONCE_BYTES_MAX:
            self._run(content, data)
        else:
            QThreadPool.globalInstance().start(partial(self._run, content, data))

    def _run(self, content: str, data: bytes) -> None:
        try:
            image, problem = decode_picture(data), ""
        except BadPicture as refused:
            image, problem = QImage(), str(refused)
        with suppress(RuntimeError):  # the view is gone: nobody wants it any more
            self.done.emit(content, image, problem)
