"""Giving the object in front to others: as a file, as text, as a QR code, from hand to hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtGui import QDrag, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.object_actions import file_filter, why_no_object
from app.object_page import ObjectPage
from app.session import reference_text
from app.window import MainWindow
from liveobj.references import Reference, ReferenceProblem, write_reference_file
from widgets.action import Action
from widgets.drag import mime_of
from widgets.language import tr
from widgets.people import OfficePerson
from widgets.share_panel import SharePanel

Near = Callable[[], Sequence[OfficePerson]]
HandOver = Callable[[Reference, str, OfficePerson], None]


class Sharing:
    """`near` gives those to whom an object can be handed, `hand_over` does it."""

    def __init__(self, window: MainWindow, near: Near, hand_over: HandOver) -> None:
        self._window = window
        self._near = near
        self._hand_over = hand_over

    def register(self) -> None:
        no_object = lambda: why_no_object(self._window)  # noqa: E731
        for action in (
            Action(
                "share.open", tr("Share"), self._open_panel, "Ctrl+Shift+E", no_object, yields=True
            ),
            Action(
                "reference.save",
                tr("Save the object's file…"),
                lambda: self._ask_save(self._page().opened.opening.reference),
                "Ctrl+Shift+S",
                no_object,
            ),
            Action(
                "reference.copy",
                tr("Copy the object as text"),
                lambda: self._copy(self._page().opened.opening.reference),
                "Ctrl+Shift+C",
                no_object,
            ),
        ):
            self._window.registry.add(action)

    def _page(self) -> ObjectPage:
        page = self._window.front
        assert page is not None, "the action is enabled only with an object in front"
        return page

    def _open_panel(self) -> None:
        page = self._page()
        reference = page.opened.opening.reference
        panel = SharePanel(
            self._window.theme, reference, page.title, page.kind.picture, self._window
        )
        panel.save_asked.connect(_closing(panel, self._ask_save))
        panel.copy_asked.connect(_closing(panel, self._copy))
        panel.drag_asked.connect(lambda given: self._drag(given, page.title))
        panel.hand_asked.connect(lambda given, person: self._hand(panel, given, person))
        panel.show_people(self._near())
        panel.open_under(self._window.top.share)

    def _hand(self, panel: QWidget, reference: Reference, person: OfficePerson) -> None:
        panel.close()
        self._hand_over(reference, self._page().title, person)

    def _ask_save(self, reference: Reference) -> None:
        page = self._page()
        self._window.ask_where_to_save(
            tr("Save the object's file"),
            f"{page.title}.liveobject",
            file_filter(),
            lambda file: self.save(page, reference, file),
        )

    def save(self, page: ObjectPage, reference: Reference, file: Path) -> None:
        """Writes a reference of an open object to a file that one can hand to others."""
        try:
            write_reference_file(reference, file)
        except ReferenceProblem as problem:
            self._window.notice.say(str(problem))
            return
        self._window.notice.say(
            tr(
                "Saved {file}. Whoever opens it is in “{title}” with you.",
                file=file.name,
                title=page.title,
            )
        )

    def _copy(self, reference: Reference) -> None:
        QGuiApplication.clipboard().setText(reference_text(reference))
        title = self._page().title
        self._window.notice.say(
            tr("Copied. Whoever pastes it here is in “{title}” with you.", title=title)
        )

    def _drag(self, reference: Reference, title: str) -> None:
        drag = QDrag(self._window)
        drag.setMimeData(mime_of(reference, title))
        drag.exec()


def _closing(panel: QWidget, run: Callable[[Reference], None]) -> Callable[[Reference], None]:
    def close_and_run(reference: Reference) -> None:
        panel.close()
        run(reference)

    return close_and_run
