"""The one log of the program: rotating, with whatever Qt, Python and our own code have to say."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from app.command_line import PROGRAM
from widgets.language import tr

_FILE_BYTES_MAX = 1_000_000
_FILES_MAX = 3
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}

log = logging.getLogger("live-objects")


class LogFile(RotatingFileHandler):
    """The file. A disk that refuses it is told once in the terminal, and tried again with every
    line."""

    refused = False

    def handleError(self, record: logging.LogRecord) -> None:
        problem = sys.exc_info()[1]
        if not isinstance(problem, OSError):
            super().handleError(record)
            return
        # What could not be written would be tried again, and fail again, at the end.
        stream, self.stream = self.stream, None
        if stream is not None:
            with suppress(OSError):
                stream.close()
        if not self.refused and sys.stderr is not None:
            self.refused = True
            told = tr(
                "The log {file} cannot be written ({reason}): it goes on when it can.",
                file=self.baseFilename,
                reason=problem.strerror,
            )
            with suppress(OSError):
                sys.stderr.write(f"{PROGRAM}: {told}\n")


def start_log(file: Path) -> None:
    """Sends everything that is logged, warned or not caught to that file."""
    handler = LogFile(
        file, maxBytes=_FILE_BYTES_MAX, backupCount=_FILES_MAX, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.captureWarnings(True)
    sys.excepthook = _log_exception
    qInstallMessageHandler(_log_qt)


def _log_exception(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
        return
    log.critical("not caught", exc_info=(kind, error, traceback))


def _log_qt(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    logging.getLogger("qt").log(_LEVELS.get(kind, logging.WARNING), "%s", message)
