"""Pictures of others: known formats within bounds, drawings that ask for nothing from outside."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QBuffer, QByteArray
from PySide6.QtGui import QImage

from widgets.image.decoding import BadPicture, decode_picture
from widgets.image.svg_check import BadDrawing, check_svg

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 2" %s>%s</svg>'


def packed(form: str, width: int = 8, height: int = 6) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(0x3366CC)
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    assert image.save(buffer, form)  # type: ignore[call-overload]
    return bytes(data.data())


def png_that_claims(width: int, height: int) -> bytes:
    """A few bytes that want to become very many."""

    def chunk(name: bytes, content: bytes) -> bytes:
        checksum = struct.pack("!I", zlib.crc32(name + content))
        return struct.pack("!I", len(content)) + name + content + checksum

    head = struct.pack("!IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_known_formats_are_unpacked(form: str) -> None:
    image = decode_picture(packed(form))
    assert (image.width(), image.height()) == (8, 6)


def test_a_drawing_is_drawn_large() -> None:
    image = decode_picture(SVG % (b"", b'<rect width="4" height="2" fill="red"/>'))
    assert (image.width(), image.height()) == (2048, 1024)
    assert image.pixelColor(5, 5).red() == 255


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a picture",
        packed("BMP"),
        packed("PNG")[:40],
        png_that_claims(100_000, 100_000),
        png_that_claims(40_000, 2),
        b"<html><body/></html>",
        b"<svg",
    ],
    ids=["empty", "text", "bmp", "cut", "bomb", "long", "html", "open"],
)
def test_what_is_no_picture_is_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(BadPicture, match=r"\.$"):
        decode_picture(data)


@pytest.mark.parametrize(
    "part",
    [
        b'<image href="file:///etc/passwd" width="1" height="1"/>',
        b'<image xmlns:x="http://www.w3.org/1999/xlink" x:href="/etc/passwd"/>',
        b'<image href="http://example.org/x.png"/>',
        b'<use href="other.svg#a"/>',
        b'<rect style="fill:url(http://example.org/x)"/>',
        b"<script>1</script>",
        b'<rect onload="x()"/>',
        b"<foreignObject/>",
        b'<animate attributeName="x"/>',
        b'<g id="a"><use href="#a"/></g>',
        b"<g>" * 150 + b"</g>" * 150,
    ],
)
def test_a_drawing_that_wants_more_than_to_be_drawn_is_refused(part: bytes) -> None:
    with pytest.raises(BadDrawing):
        check_svg(SVG % (b"", part))


def test_entities_and_repetitions_without_end_are_refused() -> None:
    with pytest.raises(BadDrawing, match="document type"):
        check_svg(b'<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG % (b"", b"&a;"))
    layers = b'<g id="l0"><rect/></g>' + b"".join(
        b'<g id="l%d">%s</g>' % (n, b'<use href="#l%d"/>' % (n - 1) * 10) for n in range(1, 9)
    )
    with pytest.raises(BadDrawing, match="repeats"):
        check_svg(SVG % (b"", layers))
    check_svg(SVG % (b"", b'<g id="a"><rect/></g><use href="#a"/><use href="#a"/>'))


def test_an_inner_picture_is_allowed() -> None:
    check_svg(SVG % (b"", b'<image href="data:image/png;base64,AAAA"/><a href="http://x.y"/>'))


# What Qt says about damaged pictures is meant for developers.
@pytest.mark.qt_log_level_fail("CRITICAL")
@given(st.binary(max_size=200))
def test_any_bytes_are_a_picture_or_refused(data: bytes) -> None:
    for prefix in (
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"GIF89a",
        b"<svg ",
        b"RIFF    WEBP",
    ):
        try:
            decode_picture(prefix + data)
        except BadPicture:
            continue
