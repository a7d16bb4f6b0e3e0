"""Says in a window why the program does not start, to whoever has no terminal to read it in."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QMessageBox

from app.application import make_application
from widgets.icons import application_icon
from widgets.language import tr
from widgets.roles import Mode
from widgets.theme import Theme


def tell(sentence: str) -> None:
    """Shows the sentence until the person has read it."""
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        application = make_application()
    Theme(application, Mode.SYSTEM)
    box = QMessageBox()
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowIcon(application_icon())
    box.setWindowTitle("Live Objects")
    box.setText(tr("Live Objects cannot start"))
    box.setInformativeText(sentence)
    box.addButton(tr("Close"), QMessageBox.ButtonRole.RejectRole)
    box.exec()
