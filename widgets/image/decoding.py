"""Bytes of somebody else into a picture: known formats only, within bounds that are looked at
before anything is unpacked."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter
from PySide6.QtSvg import QSvgRenderer

from liveobj.errors import Problem
from widgets.image.svg_check import BadDrawing, check_svg
from widgets.language import tr

PIXELS_MAX = 64_000_000
SIDE_PX_MAX = 30_000
_UNPACKED_MB_MAX = 300
_FORMATS = {b"png", b"jpeg", b"jpg", b"gif", b"webp"}
_DRAWN_SIDE_PX = 2048


class BadPicture(Problem):
    """Bytes that are not shown as a picture; the text is a sentence."""


def decode_picture(data: bytes) -> QImage:
    """The picture (of an animation, the first one); raises BadPicture."""
    if looks_like_svg(data):
        return _draw_svg(data)
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QBuffer.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    if bytes(reader.format().data()) not in _FORMATS:
        raise BadPicture(tr("It is not a picture in PNG, JPEG, GIF, WebP or SVG."))
    size = reader.size()
    if not size.isValid() or _too_large(size):
        most = PIXELS_MAX // 1_000_000
        raise BadPicture(tr("It has more than {most} million pixels.", most=most))
    # For this reader alone: what lies about its size is stopped while it is unpacked.
    limit = QImageReader.allocationLimit()
    QImageReader.setAllocationLimit(_UNPACKED_MB_MAX)
    try:
        image = reader.read()
    finally:
        QImageReader.setAllocationLimit(limit)
    if image.isNull():
        raise BadPicture(tr("The picture is damaged."))
    return image


def looks_like_svg(data: bytes) -> bool:
    head = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    return (
        head.startswith((b"<svg", b"<?xml", b"<!--", b"<!DOCTYPE svg")) and b"<svg" in data[:5000]
    )


def _too_large(size: QSize) -> bool:
    large = size.width() > SIDE_PX_MAX or size.height() > SIDE_PX_MAX
    return large or size.width() * size.height() > PIXELS_MAX


def _draw_svg(data: bytes) -> QImage:
    try:
        check_svg(data)
    except BadDrawing as problem:
        raise BadPicture(str(problem)) from None
    renderer = QSvgRenderer(QByteArray(data))
    if not renderer.isValid():
        raise BadPicture(tr("The drawing cannot be drawn."))
    size = renderer.defaultSize()
    if size.isEmpty():
        size = QSize(512, 512)
    size = size.scaled(_DRAWN_SIDE_PX, _DRAWN_SIDE_PX, Qt.AspectRatioMode.KeepAspectRatio)
    image = QImage(size.expandedTo(QSize(1, 1)), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image
