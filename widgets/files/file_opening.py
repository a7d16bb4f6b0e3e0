"""Opens a shared file with the program of the system: a copy with its real name, never the content
itself, and never a program without a question."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from liveobj.objects.file_names import could_run, safe_name
from transport.whole_file import users_rights
from widgets.language import tr

_READ_ONLY = 0o400


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where copies are: this user's alone, gone with the program."""
    return tempfile.TemporaryDirectory(prefix="live-objects-files-")


def copy_to_open(content: Path, name: str) -> Path:
    """A copy that can only be read, so that nobody takes edits of it for edits of the shared file;
    raises OSError."""
    folder = Path(_folder().name) / content.name[:16]
    folder.mkdir(exist_ok=True)
    target = folder / safe_name(name)
    if not target.exists():
        shutil.copyfile(content, target)
        target.chmod(_READ_ONLY)
    return target


def is_program(content: Path, name: str) -> bool:
    with content.open("rb") as file:
        return could_run(name, file.read(8))


def open_file(content: Path, name: str, parent: QWidget) -> QMessageBox | None:
    """Opens it, after a question if it could run; returns the question. Raises OSError."""
    if not is_program(content, name):
        _hand_over(content, name)
        return None
    question = QMessageBox(parent)
    question.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    question.setIcon(QMessageBox.Icon.Warning)
    question.setWindowTitle(tr("Open a program?"))
    question.setTextFormat(Qt.TextFormat.PlainText)
    question.setText(
        tr("{name} can do everything on this PC that you can do. Open it all the same?", name=name)
    )
    go = question.addButton(tr("Open it"), QMessageBox.ButtonRole.DestructiveRole)
    stay = question.addButton(tr("Do not open"), QMessageBox.ButtonRole.RejectRole)
    question.setDefaultButton(stay)
    question.setEscapeButton(stay)
    go.clicked.connect(lambda: _hand_over(content, name))
    question.open()
    return question


def _hand_over(content: Path, name: str) -> None:
    copy = copy_to_open(content, name)
    with users_rights():  # What the other program saves is none of ours.
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(copy)))
