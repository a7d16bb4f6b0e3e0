"""What one can do with tabs: close, open again what was closed, go from one to another."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.object_page import ObjectPage
from app.plain_page import PlainPage
from app.session import Session
from app.window import MainWindow
from widgets.action import Action
from widgets.language import tr

_REOPEN_MAX = 20
_DIGITS = 9


class TabActions:
    """Carries them out on session and window; `open_known` opens an object once more."""

    def __init__(
        self, session: Session, window: MainWindow, open_known: Callable[[str], object]
    ) -> None:
        self._session = session
        self._window = window
        self._open_known = open_known
        self._closed: list[str] = []

    def begin(self) -> None:
        """Hears of pages that are closed; the window has been built by now."""
        self._window.page_closed.connect(self._on_page_closed)

    def register(self) -> None:
        """Adds everything that can be done to the one list."""
        for action in (
            Action("object.close", tr("Close"), self._close_front, "Ctrl+W", self._why_no_tab),
            Action(
                "object.close_others",
                tr("Close others"),
                self._close_others,
                why_not=self._why_no_others,
            ),
            Action(
                "object.reopen",
                tr("Open again what was closed"),
                self._reopen,
                "Ctrl+Shift+T",
                self._why_nothing_closed,
            ),
            Action(
                "tab.next", tr("Next tab"), lambda: self._step(1), "Ctrl+Tab", self._why_no_tabs
            ),
            Action(
                "tab.before",
                tr("Tab before"),
                lambda: self._step(-1),
                "Ctrl+Shift+Tab",
                self._why_no_tabs,
            ),
            # The other keys that browsers have taught everybody.
            Action(
                "tab.next.page",
                tr("Next tab"),
                lambda: self._step(1),
                "Ctrl+PgDown",
                self._why_no_tabs,
                listed=False,
                yields=True,
            ),
            Action(
                "tab.before.page",
                tr("Tab before"),
                lambda: self._step(-1),
                "Ctrl+PgUp",
                self._why_no_tabs,
                listed=False,
                yields=True,
            ),
            *(self._tab_action(number) for number in range(1, _DIGITS + 1)),
        ):
            self._window.registry.add(action)

    def _tab_action(self, number: int) -> Action:
        """Ctrl+1 to Ctrl+8 are tabs from the left, Ctrl+9 the last, unless the view uses them."""
        last = number == _DIGITS
        return Action(
            f"tab.{number}",
            tr("Last tab") if last else tr("Tab {number}", number=number),
            lambda: self._show_tab(-1 if last else number - 1),
            f"Ctrl+{number}",
            self._why_no_tabs,
            listed=False,
            yields=True,
        )

    def _close_front(self) -> None:
        page = self._window.front_page
        if page is not None:
            self._window.ask_to_close(page)

    def _close_others(self) -> None:
        kept = self._window.front_page
        for page in self._window.tabs.pages():
            if page is not kept:
                self._window.ask_to_close(page)

    def _on_page_closed(self, page: QWidget) -> None:
        if isinstance(page, ObjectPage | PlainPage):
            self._session.close(page.opened)
            self._closed = [*self._closed, page.identity][-_REOPEN_MAX:]

    def _reopen(self) -> None:
        self._open_known(self._closed.pop())

    def _step(self, by: int) -> None:
        tabs = self._window.tabs
        if self._window.at_home:
            by = 0 if by > 0 else -1
        tabs.step(by)
        page = tabs.currentWidget()
        if page is not None:
            self._window.bring_to_front(page)

    def _show_tab(self, index: int) -> None:
        pages = self._window.tabs.pages()
        if -len(pages) <= index < len(pages):
            self._window.bring_to_front(pages[index])

    # What can be done now

    def _why_no_tab(self) -> str:
        return tr("no object is open") if self._window.at_home else ""

    def _why_no_tabs(self) -> str:
        return "" if self._window.tabs.count() else tr("no object is open")

    def _why_no_others(self) -> str:
        several = not self._window.at_home and self._window.tabs.count() > 1
        return "" if several else tr("there are no others")

    def _why_nothing_closed(self) -> str:
        return "" if self._closed else tr("nothing was closed")
