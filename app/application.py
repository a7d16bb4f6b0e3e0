"""The one QApplication, with the names by which desktops know the program."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from app.command_line import PROGRAM
from widgets.language import language


def make_application() -> QApplication:
    application = QApplication([PROGRAM])
    application.setApplicationName(PROGRAM)
    application.setApplicationDisplayName("Live Objects")
    application.setDesktopFileName(PROGRAM)
    if not QLocale.system().name().startswith(language()):
        # Dates and numbers are written as in the language that was chosen.
        QLocale.setDefault(QLocale(language()))
    # What Qt itself says, in file dialogs and in the menus of fields.
    translator = QTranslator(application)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{language()}", folder):
        application.installTranslator(translator)
    return application
