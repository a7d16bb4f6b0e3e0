"""Files taken in and written by a helper process, while the window goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QProcess, QTimer, Signal

from liveobj.documents import Document, DocumentError
from liveobj.objects.rich_document import RichBody
from liveobj.richtext.model import Content
from liveobj.richtext.wire import read_json
from transport.whole_file import users_rights
from widgets.document.clipboard import JSON, TEXT, plain_paragraphs
from widgets.document.images import usable_part
from widgets.in_thread import InThread
from widgets.language import tr

_TIME_MAX_MS = 150_000
_READER = "liveobj.richtext.convert"
_EXPORTER = "liveobj.objects.document_export"
# How long putting parts in may take between two frames; how many they are follows from it.
_TURN_S = 0.008
_PARTS_FIRST, _PARTS_MAX = 20, 400


class Helper(QObject):
    """One helper process; `done` gets its output, or a sentence about why there is none."""

    def __init__(
        self,
        module: str,
        arguments: list[str],
        given: bytes,
        done: Callable[[bytes, str], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._done = done
        self._process = QProcess(self)
        self._process.finished.connect(self._on_finished)
        self._process.errorOccurred.connect(self._on_error)
        with users_rights():  # It writes what the person exports.
            self._process.start(sys.executable, ["-m", module, *arguments])
        self._process.write(QByteArray(given))
        self._process.closeWriteChannel()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._process.kill)
        self._timer.start(_TIME_MAX_MS)

    def stop(self) -> None:
        """Nobody waits for it any more."""
        self._done = _nobody
        self._process.kill()
        self._process.waitForFinished(1000)

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._finish(b"", tr("The helper that reads and writes files cannot be started."))

    def _on_finished(self, code: int, status: QProcess.ExitStatus) -> None:
        if status is QProcess.ExitStatus.NormalExit and code == 0:
            self._finish(bytes(self._process.readAllStandardOutput().data()), "")
            return
        words = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip()
        refused = status is QProcess.ExitStatus.NormalExit and code == 2 and words
        last = words.splitlines()[-1][:500] if words else ""
        self._finish(b"", last if refused else tr("It took too long or too much memory."))

    def _finish(self, output: bytes, problem: str) -> None:
        done, self._done = self._done, _nobody
        self._timer.stop()
        done(output, problem)
        self.deleteLater()


def _nobody(_output: bytes, _problem: str) -> None:
    """Nobody waits any more."""


def read_in_helper(file: Path, done: Callable[[Content, str], None], parent: QObject) -> Helper:
    """Reads a file; `done` gets the content, or nothing and a sentence."""
    return _read_by_helper(["read", str(file)], b"", done, parent)


def _read_by_helper(
    arguments: list[str], given: bytes, done: Callable[[Content, str], None], parent: QObject
) -> Helper:
    def finish(output: bytes, problem: str) -> None:
        if problem:
            done((), problem)
            return

        def taken(content: Content | None, refused: Exception | None) -> None:
            # Whatever else may be raised there is a defect; it must not take the window along.
            done(content or (), "" if refused is None else str(refused))

        InThread(lambda: _usable(output), taken, parent)

    return Helper(_READER, arguments, given, finish, parent)


def _usable(output: bytes) -> Content:
    """In a thread: images are made small enough to be sent."""
    return tuple(part for part in map(usable_part, read_json(output)) if part is not None)


def write_in_helper(
    file: Path, document: Document, title: str, done: Callable[[str], None], parent: QObject
) -> Helper:
    """Writes a document as it is now to a file; `done` gets a sentence if it could not be."""
    state = document.export_snapshot()
    return Helper(_EXPORTER, [str(file), title], state, lambda _, why: done(why), parent)


def read_pasted(
    form: str, data: bytes, done: Callable[[Content, str], None], parent: QObject
) -> Helper | None:
    """Reads long content that was pasted, as its form says (see `clipboard.long_form`)."""

    def taken(content: Content | None, refused: Exception | None) -> None:
        done(content or (), "" if refused is None else str(refused))

    if form == JSON:
        InThread(lambda: _usable(data), taken, parent)
        return None
    if form == TEXT:
        InThread(lambda: plain_paragraphs(data.decode("utf-8", "replace")), taken, parent)
        return None
    return _read_by_helper(["read-html"], data, done, parent)


class Pouring(QObject):
    """Puts long content into a document a little at a time, as one step of undo; others may write
    meanwhile, as its place moves with the text. `done` gets where it ends, or a sentence.

    Attributes: `begun`. Signals: `advanced(int)`, in per cent; `finished`."""

    advanced = Signal(int)
    finished = Signal()

    def __init__(
        self,
        body: RichBody,
        position: int,
        content: Content,
        done: Callable[[int, str], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._body = body
        self._left = list(content)
        self._count = max(1, len(self._left))
        self._place = body.text.cursor_at(position, before=True)
        self.begun = False
        self._at_once = _PARTS_FIRST
        self._done = done
        body.document.undo_boundary()
        body.document.begin_undo_group()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._pour)
        self._timer.start(0)

    def stop(self) -> None:
        """Leaves it at what is in."""
        if self._timer.isActive():
            self._finish(0, "", tell=False)

    cancel = stop

    def run_rest(self) -> None:
        """Puts all that is left in at once."""
        while self._timer.isActive():
            self._at_once = len(self._left) + 1
            self._pour()

    def _pour(self) -> None:
        parts, self._left = self._left[: self._at_once], self._left[self._at_once :]
        start_s = time.perf_counter()
        try:
            at = self._body.text.position_of(self._place)
            with self._body.document.transaction("insert"):
                if self.begun:
                    self._body.rich.split(at)
                    at += 1
                end = self._body.insert(at, parts)
            self.begun = True
            self._place = self._body.text.cursor_at(end, before=True)
        except DocumentError as problem:
            self._finish(0, str(problem))
            return
        if self._left:
            self.advanced.emit(100 - 100 * len(self._left) // self._count)
        else:
            self._finish(end, "")
        took_s = time.perf_counter() - start_s
        if took_s > _TURN_S:
            self._at_once = max(1, self._at_once // 2)
        elif took_s < _TURN_S / 2:
            self._at_once = min(_PARTS_MAX, self._at_once * 2)

    def _finish(self, end: int, problem: str, *, tell: bool = True) -> None:
        self._timer.stop()
        self._body.document.end_undo_group()
        self.finished.emit()
        if tell:
            self._done(end, problem)
        self.deleteLater()
