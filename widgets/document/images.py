"""Images in documents: made small enough to be sent, read safely, painted, and resized by hand."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import QImage, QImageReader, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from liveobj.richtext.embeds import Embeds
from liveobj.richtext.model import IMAGE_BYTES_MAX, Image, Part
from widgets.animation import Animation, may_move
from widgets.document.embed_layer import Shown, Unknown
from widgets.language import tr
from widgets.theme import Theme

# A side longer than this is made shorter before it is sent, and never read in full.
_SIDE_MAX_PX = 2000
_PIXELS_MAX = 100_000_000
_WIDTH_MIN_PX = 24
_QUALITIES = (88, 75, 60, 40)
_KEEP = Qt.AspectRatioMode.KeepAspectRatio
_SENT_AS_THEY_ARE = (b"\x89PNG", b"GIF8", b"\xff\xd8\xff")


def read_image(data: bytes, side_max_px: int = _SIDE_MAX_PX) -> QImage:
    """An image from anywhere, scaled down if it is large; a null one if it cannot be read."""
    array = QByteArray(data)
    buffer = QBuffer(array)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    size = reader.size()
    if size.isValid():
        if size.width() * size.height() > _PIXELS_MAX:
            return QImage()
        if max(size.width(), size.height()) > side_max_px:
            reader.setScaledSize(size.scaled(side_max_px, side_max_px, _KEEP))
    return reader.read()


def make_image(data: bytes, words: str = "") -> Image | None:
    """An image that can be sent: as it is if it is small, or else encoded anew; None for what is
    no image."""
    picture = read_image(data)
    if picture.isNull():
        return None
    if len(data) <= IMAGE_BYTES_MAX // 2 and data.startswith(_SENT_AS_THEY_ARE):
        return Image(data, 0, words)
    return image_of(picture, words)


def usable_part(part: Part) -> Part | None:
    """An image as it can be sent, None for one that cannot be read; everything else as it is."""
    if not isinstance(part, Image):
        return part
    image = make_image(part.data, part.words)
    return None if image is None else Image(image.data, part.width, part.words)


def image_of(picture: QImage, words: str = "") -> Image | None:
    """A picture from the clipboard, encoded within bounds."""
    if picture.isNull():
        return None
    if max(picture.width(), picture.height()) > _SIDE_MAX_PX:
        picture = picture.scaled(
            _SIDE_MAX_PX, _SIDE_MAX_PX, _KEEP, Qt.TransformationMode.SmoothTransformation
        )
    data = _encode(picture, "PNG", -1)
    side = _SIDE_MAX_PX
    while len(data) > IMAGE_BYTES_MAX // 2:
        for quality in _QUALITIES:
            data = _encode(picture.convertToFormat(QImage.Format.Format_RGB32), "JPG", quality)
            if len(data) <= IMAGE_BYTES_MAX // 2:
                break
        else:
            side //= 2
            picture = picture.scaled(side, side, _KEEP, Qt.TransformationMode.SmoothTransformation)
    return Image(data, 0, words)


def _encode(picture: QImage, form: str, quality: int) -> bytes:
    array = QByteArray()
    buffer = QBuffer(array)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, form, quality)  # type: ignore[call-overload]
    return bytes(array.data())


class ShownImage(Shown):
    """An image in the text."""

    def __init__(self, theme: Theme, embeds: Embeds, name: str, page: QWidget) -> None:
        self._theme = theme
        self._page = page
        self._animation: Animation | None = None
        self._embeds = embeds
        self._name = name
        self._pixmap: QPixmap | None = None
        self._width = -1
        self._tried = False
        self.preview_width = 0  # while it is being resized

    def renew(self) -> bool:
        width = self._embeds.width(self._name)
        changed = width != self._width or (self._pixmap is None and self._tried)
        if self._pixmap is None:
            self._tried = False
        return changed

    def _load(self) -> QPixmap | None:
        if not self._tried:
            self._tried = True
            image = self._embeds.image(self._name)
            picture = QImage() if image is None else read_image(image.data)
            self._pixmap = None if picture.isNull() else QPixmap.fromImage(picture)
            if image is not None and self._pixmap is not None and may_move(image.data):
                self._animation = Animation(image.data, self._page)
                self._animation.stepped.connect(self._step)
        return self._pixmap

    def _step(self, image: QImage) -> None:
        self._pixmap = QPixmap.fromImage(image)
        self._page.update()

    def close(self) -> None:
        if self._animation is not None:
            self._animation.close()
            self._animation.deleteLater()
            self._animation = None

    def size(self, width_px: float) -> QSizeF:
        pixmap = self._load()
        if pixmap is None:
            return super().size(width_px)
        self._width = self._embeds.width(self._name)
        width = min(float(self.preview_width or self._width or pixmap.width()), width_px)
        return QSizeF(width, max(1.0, width * pixmap.height() / max(1, pixmap.width())))

    def paint(self, painter: QPainter, rect: QRectF) -> None:
        pixmap = self._load()
        if pixmap is None:
            Unknown(self._theme).paint(painter, rect)
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(rect, pixmap, QRectF(pixmap.rect()))
        if self._animation is not None:
            self._animation.painted()


class ImageFrame(QWidget):
    """A frame around the image that is selected, with a handle to resize it.

    Signals: `dragged(width)` while the handle is moved, `resized(width)` when it is let go.
    """

    dragged = Signal(int)
    resized = Signal(int)
    _HANDLE_PX = 14

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._from: QPoint | None = None
        self._width = 0
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Image; drag the corner to change its size"))
        self.hide()

    def show_over(self, rect: QRectF) -> None:
        self.setGeometry(rect.toAlignedRect().adjusted(-2, -2, 2, 2))
        self.show()
        self.raise_()

    def _on_handle(self, point: QPoint) -> bool:
        return point.x() > self.width() - 20 and point.y() > self.height() - 20

    # Qt

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.colour("accent"), 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 3, 3)
        handle = QRectF(0, 0, self._HANDLE_PX, self._HANDLE_PX)
        handle.moveBottomRight(QRectF(self.rect()).bottomRight())
        painter.setBrush(self._theme.colour("accent"))
        painter.drawRoundedRect(handle, 3, 3)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._on_handle(event.position().toPoint()):
            self._from = event.globalPosition().toPoint()
            self._width = self.width() - 4
        else:
            event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self._from is not None or self._on_handle(event.position().toPoint())
        shape = Qt.CursorShape.SizeFDiagCursor if over else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)
        if self._from is not None:
            self.dragged.emit(self._wanted(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._from is not None:
            width = self._wanted(event)
            self._from = None
            self.resized.emit(width)

    def _wanted(self, event: QMouseEvent) -> int:
        assert self._from is not None, "only while dragged"
        moved = event.globalPosition().toPoint().x() - self._from.x()
        return max(_WIDTH_MIN_PX, self._width + moved)

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH_MIN_PX, _WIDTH_MIN_PX)
