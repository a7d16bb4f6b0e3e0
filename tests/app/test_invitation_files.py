"""Invitations in files: texts, photographs of QR codes, and what is neither."""

from __future__ import annotations

from pathlib import Path

import pytest
import segno
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter, QTransform

from app.errors import StartProblem
from app.invitation_files import read_invitation_file
from transport.errors import TransportError
from transport.scopes import Scope

OFFICE = Scope.from_key("Büro", bytes(range(32)))


def code(file: Path, text: str) -> Path:
    segno.make_qr(text, error="m").save(str(file), scale=4)
    return file


def test_a_text_and_a_code_invite_to_the_same_network(tmp_path: Path) -> None:
    OFFICE.write(tmp_path / "office.scope")
    assert read_invitation_file(tmp_path / "office.scope") == OFFICE
    drawn = code(tmp_path / "code.png", OFFICE.invitation())
    assert read_invitation_file(drawn) == OFFICE


def test_a_code_is_read_from_a_photograph(tmp_path: Path) -> None:
    drawn = QImage(str(code(tmp_path / "code.png", OFFICE.invitation())))
    photograph = QImage(1600, 1200, QImage.Format.Format_RGB32)
    photograph.fill(QColor("#b8a890"))
    painter = QPainter(photograph)
    tilted = drawn.transformed(QTransform().rotate(17), Qt.TransformationMode.SmoothTransformation)
    painter.drawImage(500, 300, tilted.scaledToWidth(500))
    painter.end()
    assert photograph.save(str(tmp_path / "photograph.jpg"), "JPG", 70)
    assert read_invitation_file(tmp_path / "photograph.jpg") == OFFICE


@pytest.mark.parametrize(
    "text", ["https://example.org", OFFICE.invitation()[:-4], "live-objects-scope:"]
)
def test_another_code_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises((StartProblem, TransportError), match=r"invitation|key|copy"):
        read_invitation_file(code(tmp_path / "code.png", text))


@pytest.mark.parametrize(
    "content",
    [b"", b"plain words", b"\x89PNG", b"\x89PNG\r\n\x1a\n" + bytes(200), b"BM" + b"\xff" * 100],
)
def test_what_is_neither_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises((StartProblem, TransportError)) as caught:
        read_invitation_file(tmp_path / "file")
    assert str(caught.value).endswith(".")
    with pytest.raises(TransportError):
        read_invitation_file(tmp_path / "missing")


def test_a_picture_of_a_million_millions_is_not_unpacked(tmp_path: Path) -> None:
    header = b"BM" + bytes(8) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    sides = (10**6).to_bytes(4, "little") * 2
    bomb = header + sides + (1).to_bytes(2, "little") + (24).to_bytes(2, "little") + bytes(24)
    (tmp_path / "bomb.bmp").write_bytes(bomb)
    with pytest.raises(StartProblem, match="no picture"):
        read_invitation_file(tmp_path / "bomb.bmp")
