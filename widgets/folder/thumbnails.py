"""Small pictures of objects as they look now: made one at a time while nothing else is to be done,
of what is in sight, and seldom anew.

An object is opened for a moment, drawn into a picture and closed. What is drawn this way gets
surroundings that are quiet: a folder inside it makes no pictures of its own, so folders that are in
each other do no harm.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPixmap

from liveobj.errors import Problem
from liveobj.opening import Opening
from liveobj.references import Reference, fingerprint
from widgets.object_kind import Kinds, ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.theme import Theme

_DRAWN_AT = QSize(480, 300)
_SETTLE_MS = 250
_PAUSE_MS = 120
_FRESH_S = 60.0
_KEPT_MAX = 300


class QuietSurroundings:
    """What a view is given while only a picture of it is made: it can look, but neither ask, say
    nor show anything."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around

    @property
    def theme(self) -> Theme:
        return self._around.theme

    @property
    def kinds(self) -> Kinds:
        return self._around.kinds

    def open(self, reference: Reference) -> Opening:
        return self._around.open(reference)

    def view(self, opening: Opening) -> ObjectView:
        kind = self.kinds.of(opening.reference)
        assert kind is not None, "it has been opened to be shown"
        return kind.view(self, opening)

    def make(self, kind: ObjectKind, title: str = "") -> Reference:
        return self._around.make(kind, title)

    def recent(self, word: str) -> list[tuple[str, Reference]]:
        return []

    def knows(self, reference: Reference) -> bool:
        return self._around.knows(reference)

    def show(self, reference: Reference) -> None: ...

    def say(self, sentence: str) -> None: ...

    def ask_for_files(
        self, title: str, filters: str, done: Callable[[list[Path]], None]
    ) -> None: ...

    def ask_where_to_save(
        self, title: str, name: str, filters: str, done: Callable[[Path], None]
    ) -> None: ...


class Thumbnails(QObject):
    """Signals: `drawn(identity)` when there is a new picture of an object."""

    drawn = Signal(str)

    def __init__(
        self,
        around: Surroundings,
        parent: QObject,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._around = around
        self._clock = clock
        self._pictures: OrderedDict[str, tuple[QPixmap, float, bool]] = OrderedDict()
        self._waiting: OrderedDict[str, Reference] = OrderedDict()
        self._open: tuple[str, Opening, ObjectView] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._turn)

    @property
    def quiet(self) -> bool:
        """Whether only a picture is made of what this is in, however deep inside."""
        around: object = self._around
        while around is not None and not isinstance(around, QuietSurroundings):
            around = getattr(around, "_around", None)
        return around is not None

    def picture(self, reference: Reference) -> QPixmap | None:
        """The newest picture, if there is one; a new one is made later if it is time for it."""
        identity = str(fingerprint(reference))
        picture, at, dark = self._pictures.get(identity, (None, 0.0, False))
        stale = self._clock() - at > _FRESH_S or dark != self._around.theme.dark
        wanted = (picture is None or stale) and not self.quiet and identity not in self._waiting
        # What was never live here does not become so for the sake of a picture.
        if wanted and self._around.knows(reference):
            self._waiting[identity] = reference
            if not self._timer.isActive():
                self._timer.start(_PAUSE_MS)
        return picture

    def close(self) -> None:
        self._timer.stop()
        self._waiting.clear()
        self._put_away()

    def _turn(self) -> None:
        if self._open is not None:
            self._draw()
        elif self._waiting:
            identity, reference = self._waiting.popitem(last=False)
            self._take_up(identity, reference)
        if self._open is not None:
            self._timer.start(_SETTLE_MS)
        elif self._waiting:
            self._timer.start(_PAUSE_MS)

    def _take_up(self, identity: str, reference: Reference) -> None:
        kind = self._around.kinds.of(reference)
        if kind is None:
            return
        try:
            opening = self._around.open(reference)
        except Problem:
            return  # whoever opens it is told why it cannot be
        view = kind.view(QuietSurroundings(self._around), opening)
        view.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        view.resize(_DRAWN_AT)
        self._open = (identity, opening, view)

    def _draw(self) -> None:
        assert self._open is not None
        identity, _, view = self._open
        view.show_newest()
        self._pictures[identity] = (view.grab(), self._clock(), self._around.theme.dark)
        self._pictures.move_to_end(identity)
        while len(self._pictures) > _KEPT_MAX:
            self._pictures.popitem(last=False)
        self._put_away()
        self.drawn.emit(identity)

    def _put_away(self) -> None:
        if self._open is not None:
            _, opening, view = self._open
            self._open = None
            view.close_view()
            view.deleteLater()
            opening.close()
