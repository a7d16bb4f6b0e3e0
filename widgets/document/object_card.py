"""Another live object in a document: its title, a way to open it, and itself, alive, while it can
be seen."""

from __future__ import annotations

import logging

from PySide6.QtCore import QSizeF, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from liveobj.errors import Problem
from liveobj.opening import Opening
from liveobj.references import Reference, read_reference
from liveobj.richtext.embeds import Embeds
from widgets.document.embed_layer import Shown
from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.object_view import ObjectView, Surroundings

log = logging.getLogger(__name__)

_HEIGHT_PX = 320
_STRIP_PX = 44


class ShownObject(Shown):
    """An embedded object. It is opened when it comes into sight, sleeps when it is out of it, and
    is closed with the document."""

    def __init__(self, around: Surroundings, embeds: Embeds, name: str) -> None:
        self._around = around
        self._embeds = embeds
        self._name = name
        self._opening: Opening | None = None
        self._view: ObjectView | None = None
        self._problem = ""
        self._asleep = False

    def size(self, width_px: float) -> QSizeF:
        return QSizeF(width_px, _STRIP_PX if self._problem else _HEIGHT_PX)

    def renew(self) -> bool:
        return False

    def show_in(self, parent: QWidget) -> None:
        if self.widget is None:
            self.widget = self._make(parent)
        elif self._asleep and self._opening is not None:
            self._opening.wake()
            self._asleep = False

    def put_away(self) -> None:
        if self.widget is not None and self.widget.isVisible():
            self.widget.hide()
            if self._opening is not None:
                self._opening.sleep()
                self._asleep = True

    def close(self) -> None:
        if self._view is not None:
            self._view.close_view()
        if self._opening is not None:
            self._opening.close()
        if self.widget is not None:
            self.widget.hide()
            self.widget.deleteLater()
        self.widget = self._view = self._opening = None

    def _make(self, parent: QWidget) -> QWidget:
        frame = QFrame(parent)
        kind(frame, "card")
        column = QVBoxLayout(frame)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        reference = self._read()
        if reference is not None:
            self._open(reference)
        title = self._embeds.words(self._name) if self._opening is None else self._opening.title
        column.addLayout(self._strip(title or tr("Object"), reference))
        if self._view is not None:
            column.addWidget(self._view, 1)
        return frame

    def _read(self) -> Reference | None:
        written = self._embeds.reference(self._name)
        try:
            return None if written is None else read_reference(written)
        except Problem as problem:
            self._problem = str(problem)
            return None

    def _open(self, reference: Reference) -> None:
        try:
            self._opening = self._around.open(reference)
            self._view = self._around.view(self._opening)
        except Problem as problem:
            log.warning("an embedded object cannot be shown: %s", problem)
            self._problem = str(problem)

    def _strip(self, title: str, reference: Reference | None) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(3 * SPACE_PX, SPACE_PX, SPACE_PX, SPACE_PX)
        row.addWidget(label(title, "strong"))
        row.addWidget(label(self._problem, "muted"), 1)
        if reference is not None:
            button = QToolButton()
            show_icon(button, self._around.theme, "external-link", "muted")
            button.setToolTip(tr("Open in a tab of its own"))
            button.setAccessibleName(tr("Open {title}", title=title))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda: self._around.show(reference))
            row.addWidget(button)
        return row
