"""The end of the program, and of a tab: nothing that is on no disk is left behind unasked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.object_page import ObjectPage
from app.session import Session
from app.window import MainWindow
from liveobj.errors import Problem
from liveobj.objects.copies import can_copy, write_copy
from liveobj.objects.shared_document import SharedDocument
from widgets.language import tr, tr_n
from widgets.unsaved_dialog import UnsavedDialog

Unsaved = Callable[[], list[SharedDocument]]


class Quitting:
    """Asks where the disk refuses; `quit_program` ends the program without a question."""

    def __init__(
        self, session: Session, window: MainWindow, quit_program: Callable[[], None]
    ) -> None:
        self._session = session
        self._window = window
        self._quit_program = quit_program
        self._dialog: UnsavedDialog | None = None
        self._ends = False

    def begin(self) -> None:
        """The window asks before it closes or a tab is closed."""
        self._window.may_close = self._may_close
        self._window.may_close_page = self._may_close_page
        self._window.copy_asked.connect(self._on_copy_asked)

    @property
    def question(self) -> str:
        """What the person is asked at this moment; nothing if they are not."""
        return "" if self._dialog is None else self._dialog.accessibleDescription()

    # The program

    def ask_to_quit(self) -> None:
        """Ends the program; asks first if something cannot be saved."""
        if self.unsaved():
            self._ask_before_end()
        else:
            self.quit_now()

    def quit_now(self) -> None:
        """Ends the program without a question; what can be written is written."""
        self._ends = True
        self._finish_typing()
        self._quit_program()

    def unsaved(self) -> list[SharedDocument]:
        """Tries to save everything; those that the disk refuses."""
        self._finish_typing()
        return _refused(self._session.unclosed())

    def _finish_typing(self) -> None:
        for page in self._window.object_pages():
            page.view.finish_typing()

    def _may_close(self) -> bool:
        if self._ends or not self.unsaved():
            return True
        self._ask_before_end()
        return False

    def _ask_before_end(self) -> None:
        loss = tr("If you quit now, the latest changes are lost in:")
        self._ask(self.unsaved, loss, tr("Quit anyway"), self.quit_now)

    # One tab

    def _may_close_page(self, page: QWidget) -> bool:
        if not isinstance(page, ObjectPage):
            return True

        def unsaved() -> list[SharedDocument]:
            page.view.finish_typing()
            return _refused(page.objects())

        if not unsaved():
            return True
        loss = tr(
            "If you close the tab, its changes are kept and are saved as soon as it is possible, "
            "unless you quit before. They are in:"
        )
        self._ask(unsaved, loss, tr("Close anyway"), lambda: self._window.close_page(page))
        return False

    def _on_copy_asked(self, page: ObjectPage) -> None:
        """The bar of a page has offered a copy."""
        self._ask_where(page.unsaved_objects, self._window.notice.say)

    # The question

    def _ask(self, unsaved: Unsaved, loss: str, leave: str, go: Callable[[], object]) -> None:
        if self._dialog is not None:
            self._dialog.activateWindow()
            return
        objects = unsaved()
        dialog = UnsavedDialog(
            self._window.theme,
            f"{_why(objects)} {loss}",
            leave,
            can_copy=any(map(can_copy, objects)),
            parent=self._window,
        )
        dialog.show_titles([one.title for one in objects])

        def retry() -> None:
            left = unsaved()
            if left:
                dialog.show_titles([one.title for one in left])
                dialog.say(tr("The disk still refuses."))
            else:
                dialog.reject()
                go()

        dialog.retry_asked.connect(retry)
        dialog.copy_asked.connect(lambda: self._ask_where(unsaved, dialog.say))
        dialog.left.connect(go)
        dialog.finished.connect(self._on_answered)
        self._dialog = dialog
        dialog.open()

    def _on_answered(self, _result: int) -> None:
        self._dialog = None

    def _ask_where(self, unsaved: Unsaved, say: Callable[[str], object]) -> None:
        chooser = QFileDialog(self._dialog or self._window, tr("Save copies in"), str(Path.home()))
        chooser.setFileMode(QFileDialog.FileMode.Directory)
        chooser.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        chooser.fileSelected.connect(lambda folder: say(write_copies(unsaved(), Path(folder))))
        chooser.open()


def write_copies(objects: Sequence[SharedDocument], folder: Path) -> str:
    """Writes what has a form as a plain file; gives a sentence about what has become of it."""
    files, problems = 0, []
    without = [shared.title for shared in objects if not can_copy(shared)]
    for shared in objects:
        if can_copy(shared):
            try:
                write_copy(shared, folder)
                files += 1
            except Problem as problem:
                problems.append(str(problem))
    sentences = problems
    if files:
        sentences.insert(
            0,
            tr_n(
                "{count} copy is saved in {folder}.",
                "{count} copies are saved in {folder}.",
                files,
                folder=folder,
            ),
        )
    if without:
        sentences.append(tr("No copy can be made of {titles}.", titles=", ".join(without)))
    return " ".join(sentences)


def _why(objects: Sequence[SharedDocument]) -> str:
    if any(one.state.disk_full for one in objects):
        return tr("The disk is full.")
    return tr("The disk refuses to write.")


def _refused(objects: Sequence[SharedDocument]) -> list[SharedDocument]:
    """Those with work of this person that cannot be written now."""
    return [shared for shared in objects if shared.document.editable and not shared.flush()]
