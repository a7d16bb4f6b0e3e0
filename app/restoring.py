"""What was open is open again: kept while the program runs, so that a crash loses no tab."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from app.object_actions import ObjectActions
from app.object_lists import OpenList
from app.object_page import ObjectPage
from app.plain_page import PlainPage
from app.window import MainWindow
from liveobj.host import InBackground
from widgets.error_card import ErrorCard
from widgets.language import tr

# After this long, what was restored has proved not to bring the program down.
SETTLED_AFTER_MS = 8000


class Restoring:
    """Keeps the list of what is open, and opens it at the start."""

    def __init__(
        self,
        window: MainWindow,
        objects: ObjectActions,
        file: Path,
        in_background: InBackground | None = None,
    ) -> None:
        self._window = window
        self._objects = objects
        self._list = OpenList(file, in_background)
        self._keeping = False

    def begin(self, *, restore: bool) -> None:
        """Opens what was open, if wanted, and keeps what is from now on."""
        if restore and self._list.keys:
            if self._list.given_up:
                self._window.notice.say(
                    tr("It ended twice while it opened what was open. Open it from Recent.")
                )
            else:
                self._open_again()
        self._keeping = True
        self._window.front_changed.connect(self._keep)
        QTimer.singleShot(SETTLED_AFTER_MS, self._window, self._list.settled)
        self._keep()

    def _open_again(self) -> None:
        self._list.trying()
        front = self._list.front
        for key in self._list.keys:
            self._objects.open_known(key, behind=key != front)
        if not front and self._window.tabs.count():
            self._window.show_home()

    def stop(self) -> None:
        """From now on tabs are closed because the program ends."""
        self._keeping = False

    def _keep(self) -> None:
        if not self._keeping:
            return
        # What the disk refused to open is still wanted.
        keys = [key for page in self._window.tabs.pages() if (key := _key_of(page))]
        self._list.set(keys, _key_of(self._window.front_page))


def _key_of(page: QWidget | None) -> str:
    if isinstance(page, ObjectPage | PlainPage):
        return page.identity
    return page.key if isinstance(page, ErrorCard) else ""
