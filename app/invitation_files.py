"""Invitations to private networks in files: a line of text, or a picture of a QR code.

A picture is a stranger's: its size is looked at before it is unpacked.
"""

from __future__ import annotations

from pathlib import Path

from app.errors import StartProblem
from transport.scopes import Scope
from widgets.language import tr

INVITATION = "live-objects-scope:"
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"RIFF")
_SIDE_PX_MAX = 12_000
_FILE_BYTES_MAX = 64 << 20


def read_invitation_file(file: Path) -> Scope:
    """The scope that it invites to; raises StartProblem or TransportError."""
    if not _is_picture(file):
        return Scope.read(file)
    texts = _read_codes(file)
    invitations = [text for text in texts if text.startswith(INVITATION)]
    if not invitations:
        raise StartProblem(
            tr("There is no QR code of an invitation in {file}: take a sharper one.", file=file)
        )
    return Scope.from_invitation(invitations[0])


def _is_picture(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(8).startswith(_PICTURES)
    except OSError:
        return False  # Whoever reads it as a text says why.


def _read_codes(file: Path) -> list[str]:
    """The texts of the QR codes in a picture."""
    # Both are needed by those few who join by a picture.
    import zxingcpp  # noqa: PLC0415
    from PySide6.QtGui import QImage, QImageReader  # noqa: PLC0415

    reader = QImageReader(str(file))
    size = reader.size()
    small = max(size.width(), size.height()) <= _SIDE_PX_MAX
    picture = reader.read() if small and file.stat().st_size <= _FILE_BYTES_MAX else QImage()
    if picture.isNull():
        raise StartProblem(tr("{file} is no picture that can be read.", file=file))
    grey = picture.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = memoryview(bytes(grey.constBits())).cast("B", (grey.height(), grey.bytesPerLine()))
    found = zxingcpp.read_barcodes(rows, zxingcpp.barcode_formats_from_str("QRCode"))
    return [code.text for code in found]
