"""Everything one can choose: theme, settings page, and who one is at the first start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QPushButton

from app.settings import SettingsKeeper
from app.trust_book import TrustBook
from app.window import MainWindow
from liveobj.channels.presence import NAME_CHARACTERS_MAX
from widgets.action import Action
from widgets.language import LANGUAGES, tr
from widgets.look import label
from widgets.roles import Mode
from widgets.settings_page import (
    Setting,
    SettingsPage,
    choice_control,
    colour_control,
    switch_control,
    text_control,
)
from widgets.welcome import Welcome


@dataclass(frozen=True, slots=True)
class Facts:
    """What the settings page tells but cannot change; `fingerprint` is that of the person, empty
    for one without an identity."""

    scope: str
    profile: str
    fingerprint: str


def theme_words(mode: Mode) -> str:
    words = {Mode.LIGHT: tr("Light theme"), Mode.DARK: tr("Dark theme")}
    return words.get(mode, tr("Theme of the system"))


class SettingsActions:
    """Shows choices and takes them over. `introduced` is told when the first page is done."""

    def __init__(
        self,
        window: MainWindow,
        settings: SettingsKeeper,
        trust: TrustBook,
        facts: Facts,
        introduced: Callable[[], None],
    ) -> None:
        self._window = window
        self._settings = settings
        self._trust = trust
        self._facts = facts
        self._introduced = introduced
        self._page: SettingsPage | None = None
        self._welcome: Welcome | None = None

    def register(self) -> None:
        add = self._window.registry.add
        add(Action("settings.open", tr("Settings"), self._open, "Ctrl+,"))
        add(
            Action(
                "theme.toggle",
                tr("Switch between light and dark"),
                self._toggle_theme,
                "Ctrl+D",
                yields=True,
            )
        )
        for mode in Mode:
            add(self._theme_action(mode))

    def begin(self) -> None:
        self._window.page_closed.connect(self._on_page_closed)

    # Theme

    def _theme_action(self, mode: Mode) -> Action:
        return Action(
            f"theme.{mode.value}",
            theme_words(mode),
            lambda: self._set_theme(mode),
            checked=lambda: self._window.theme.mode is mode,
        )

    def _toggle_theme(self) -> None:
        self._set_theme(Mode.LIGHT if self._window.theme.dark else Mode.DARK)

    def _set_theme(self, mode: Mode) -> None:
        self._window.theme.set_mode(mode)
        self._settings.change(theme=mode.value)

    # The page

    def _open(self) -> None:
        if self._page is not None:
            self._window.bring_to_front(self._page)
            return
        self._page = SettingsPage(self._rows())
        self._window.show_page(self._page, tr("Settings"), tr("Settings"), "settings")

    def _on_page_closed(self, page: object) -> None:
        if page is self._page:
            self._page = None
        if page is self._welcome:
            self._welcome = None

    def _rows(self) -> list[Setting]:
        return [
            *self._look_rows(),
            *self._habit_rows(),
            *self._log_rows(),
            *self._trust_rows(),
            Setting(
                tr("Network"),
                self._facts.scope,
                self._network_button(),
            ),
            Setting(
                tr("Telemetry"),
                tr("Nothing about you or your objects is ever sent to anybody."),
                label(tr("none"), "plain"),
            ),
            Setting(
                tr("Where everything is"),
                tr("Objects, settings and logs of this profile."),
                label(self._facts.profile, "code", wrap=True),
            ),
        ]

    def _look_rows(self) -> list[Setting]:
        now, change, theme = self._settings.now, self._settings.change, self._window.theme
        languages = [("", tr("As the system has it")), *LANGUAGES.items()]
        themes = [(mode.value, theme_words(mode)) for mode in Mode]
        return [
            Setting(
                tr("Your name"),
                tr("What others see beside your caret."),
                text_control(now.name, NAME_CHARACTERS_MAX, lambda name: change(name=name)),
            ),
            Setting(
                tr("Your colour"),
                tr("What your caret and your disc are drawn in."),
                colour_control(theme, now.colour, lambda c: change(colour=c)),
            ),
            Setting(
                tr("Theme"),
                tr("Light, dark, or whatever the desktop has."),
                choice_control(
                    theme, themes, now.theme, lambda value: self._set_theme(Mode(value))
                ),
            ),
            Setting(
                tr("Language"),
                tr("Takes effect at the next start."),
                choice_control(theme, languages, now.language, lambda code: change(language=code)),
            ),
        ]

    def _habit_rows(self) -> list[Setting]:
        now, change, theme = self._settings.now, self._settings.change, self._window.theme
        return [
            Setting(
                tr("Open again what was open"),
                tr("At the next start, also after a crash."),
                switch_control(theme, now.restore, lambda on: change(restore=on)),
            ),
            Setting(
                tr("Fetch what is usually opened next"),
                tr("In the background, where the office's pipeline has found what goes together."),
                switch_control(theme, now.prefetch, lambda on: change(prefetch=on)),
            ),
            Setting(
                tr("Hide who and where I am"),
                tr("Others still count you, but see neither name nor caret."),
                switch_control(theme, now.presence_hidden, lambda on: change(presence_hidden=on)),
            ),
        ]

    def _log_rows(self) -> list[Setting]:
        now, change, theme = self._settings.now, self._settings.change, self._window.theme
        activity = switch_control(theme, now.activity_log, lambda on: change(activity_log=on))
        activity.setEnabled(now.event_log)

        def keep_events(on: bool) -> None:
            change(event_log=on)
            activity.setEnabled(on)

        return [
            Setting(
                tr("Keep a log of network events"),
                tr("On this PC only, up to 256 MB. Takes effect at the next start."),
                switch_control(theme, now.event_log, keep_events),
            ),
            Setting(
                tr("Log what I open and edit, too"),
                tr(
                    "When an object was opened, edited and closed, by its number and under a "
                    "random number for you: no names, titles or words. It is in the log of network "
                    "events on this PC and goes nowhere. Takes effect at the next start."
                ),
                activity,
            ),
        ]

    def _trust_rows(self) -> list[Setting]:
        rows = []
        if self._facts.fingerprint:
            rows.append(
                Setting(
                    tr("Your key"),
                    tr("Others see it beside what you have made. Who compares it knows it is you."),
                    label(self._facts.fingerprint, "code", wrap=True),
                )
            )
        forget = QPushButton(tr("Ask again for all of them"))
        forget.setEnabled(self._trust.trusts_others)

        def ask_again() -> None:
            self._trust.forget_others()
            forget.setEnabled(False)

        forget.clicked.connect(ask_again)
        sentence = tr("Those whose objects go live without a question. Objects that you know stay.")
        rows.append(Setting(tr("Trusted people and folders"), sentence, forget))
        return rows

    def _network_button(self) -> QPushButton:
        button = QPushButton(tr("Make, share or join a private one"))
        button.clicked.connect(lambda: self._window.registry.run("network.open"))
        return button

    # The first start

    def welcome(self) -> None:
        """Asks who the person is, once."""
        now = self._settings.now
        self._welcome = Welcome(self._window.theme, now.name, now.colour)
        self._welcome.done.connect(self._on_welcome)
        self._window.show_page(self._welcome, tr("Welcome"), tr("Welcome"), "user")

    def _on_welcome(self, name: str, colour: str) -> None:
        self._settings.change(name=name, colour=colour, introduced=True)
        page = self._welcome
        if page is not None:
            self._window.close_page(page)
        self._introduced()
