"""Pictures on their way into an image and out of it: files, the clipboard, what is dropped."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QMimeData
from PySide6.QtGui import QGuiApplication, QImage

from liveobj.errors import Problem
from liveobj.objects.image import PICTURE_BYTES_MAX, Image
from liveobj.opening import Opening
from transport.whole_file import export_whole
from widgets.image.decoding import BadPicture, decode_picture
from widgets.language import tr
from widgets.object_view import Surroundings

PICTURE_FILTER = "Pictures (*.png *.jpg *.jpeg *.gif *.webp *.svg)"


class PictureFiles:
    """Says why when something is no picture, or cannot be read or written."""

    def __init__(self, opening: Opening, around: Surroundings) -> None:
        assert isinstance(opening.shared, Image), "the kind says what is opened"
        self._image = opening.shared
        self._opening = opening
        self._around = around

    def show_bytes(self, data: bytes, name: str = "") -> None:
        """Shows a picture to everybody, if it is one."""
        try:
            if len(data) > PICTURE_BYTES_MAX:
                most = PICTURE_BYTES_MAX // 1024**2
                raise BadPicture(tr("It has more than {most} MB.", most=most))
            decode_picture(data)
            self._image.show(data, name)
        except Problem as problem:
            self._around.say(tr("The picture is not shown. {reason}", reason=str(problem)))

    def open_file(self, file: Path) -> None:
        try:
            with file.open("rb") as source:
                data = source.read(PICTURE_BYTES_MAX + 1)
        except OSError as problem:
            self._around.say(
                tr("{file} cannot be read: {reason}.", file=file.name, reason=problem.strerror)
            )
            return
        self.show_bytes(data, file.name)

    def ask_file(self) -> None:
        self._around.ask_for_files(
            tr("Open a picture"), PICTURE_FILTER, lambda files: self.open_file(files[0])
        )

    def ask_save(self) -> None:
        """Saves the picture as it came, without marks."""
        now = self._image.now
        name = (now.name if now is not None else "") or f"{self._opening.title}.png"
        self._around.ask_where_to_save(tr("Save picture"), Path(name).name, "", self.save_file)

    def save_file(self, file: Path) -> None:
        data = self._image.data()
        if data is None:
            return
        try:
            export_whole(file, data)
        except OSError as problem:
            self._around.say(
                tr("{file} was not written: {reason}.", file=file.name, reason=problem.strerror)
            )

    def paste(self) -> None:
        """Shows the picture of the clipboard."""
        mime = QGuiApplication.clipboard().mimeData()
        if mime is not None:
            self.take_in(mime)

    def take_in(self, mime: QMimeData) -> None:
        files = [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
        if files:
            self.open_file(files[0])
        elif mime.hasFormat("image/svg+xml"):
            self.show_bytes(bytes(mime.data("image/svg+xml").data()))
        elif mime.hasImage():
            image = QImage(mime.imageData())
            packed = QByteArray()
            buffer = QBuffer(packed)
            buffer.open(QBuffer.OpenModeFlag.WriteOnly)
            image.save(buffer, "PNG")  # type: ignore[call-overload]
            self.show_bytes(bytes(packed.data()))


def is_picture_file(name: str) -> bool:
    return Path(name).suffix.lower() in (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
