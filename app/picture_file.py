"""A picture of the window as a file that a person has asked for."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QImage, QPixmap

from transport.whole_file import export_whole


def save_picture(picture: QPixmap | QImage, file: Path) -> bool:
    """Writes it in the format that the ending names; False if there is none, or the disk
    refuses."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    form = file.suffix.removeprefix(".").upper()
    if not form or not picture.save(buffer, form):  # type: ignore[call-overload]
        return False
    try:
        export_whole(file, bytes(buffer.data().data()))
    except OSError:
        return False
    return True
