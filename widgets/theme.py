"""The theme in force: light, dark or as the system has it, applied to the running program."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPalette
from PySide6.QtWidgets import QApplication

from widgets import fonts
from widgets.roles import DARK, LIGHT, Mode, Roles, nearest_person_colour
from widgets.stylesheet import stylesheet


class Theme(QObject):
    """Keeps the program in the colours of `roles`.

    Attributes: `mode` (what was asked for), `roles` (what is shown), `dark`; `drawn`, the icons
    that have been drawn so far, which `icons.py` looks after.
    Signals: `changed` after `roles` has become another one.
    """

    changed = Signal()

    def __init__(self, application: QApplication, mode: Mode = Mode.SYSTEM) -> None:
        super().__init__(application)
        self._application = application
        self.mode = mode
        self.roles = LIGHT
        self.drawn: dict[str, QIcon] = {}
        fonts.load_fonts()
        application.setStyle("Fusion")
        application.setFont(fonts.font())
        application.styleHints().colorSchemeChanged.connect(self._follow_system)
        self.set_mode(mode)

    @property
    def dark(self) -> bool:
        return self.roles is DARK

    def set_mode(self, mode: Mode) -> None:
        """Changes what is wanted, and at once what is shown."""
        self.mode = mode
        hints = self._application.styleHints()
        if mode is Mode.SYSTEM:
            hints.unsetColorScheme()
            wants_dark = hints.colorScheme() is Qt.ColorScheme.Dark
        else:
            wants_dark = mode is Mode.DARK
            hints.setColorScheme(Qt.ColorScheme.Dark if wants_dark else Qt.ColorScheme.Light)
        self._apply(DARK if wants_dark else LIGHT)

    def colour(self, role: str) -> QColor:
        """The colour of a role, by its name."""
        return QColor(getattr(self.roles, role))

    def person_colour(self, colour: str) -> QColor:
        """How someone's colour, as it came over the network, is shown on this theme."""
        person = nearest_person_colour(colour)
        return QColor(person.dark if self.dark else person.light)

    def _follow_system(self, scheme: Qt.ColorScheme) -> None:
        if self.mode is Mode.SYSTEM:
            self._apply(DARK if scheme is Qt.ColorScheme.Dark else LIGHT)

    def _apply(self, roles: Roles) -> None:
        different = roles is not self.roles
        self.roles = roles
        self._application.setPalette(_palette(roles))
        self._application.setStyleSheet(stylesheet(roles))
        if different:
            self.changed.emit()


def _palette(roles: Roles) -> QPalette:
    palette = QPalette()
    colours = {
        QPalette.ColorRole.Window: roles.surface,
        QPalette.ColorRole.WindowText: roles.text,
        QPalette.ColorRole.Base: roles.raised,
        QPalette.ColorRole.AlternateBase: roles.sunken,
        QPalette.ColorRole.Text: roles.text,
        QPalette.ColorRole.PlaceholderText: roles.muted,
        QPalette.ColorRole.Button: roles.raised,
        QPalette.ColorRole.ButtonText: roles.text,
        QPalette.ColorRole.ToolTipBase: roles.raised,
        QPalette.ColorRole.ToolTipText: roles.text,
        QPalette.ColorRole.Highlight: roles.selection,
        QPalette.ColorRole.HighlightedText: roles.text,
        QPalette.ColorRole.Link: roles.accent,
        QPalette.ColorRole.Accent: roles.accent,
    }
    for role, colour in colours.items():
        palette.setColor(role, QColor(colour))
    for role in (
        QPalette.ColorRole.WindowText,
        QPalette.ColorRole.Text,
        QPalette.ColorRole.ButtonText,
    ):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(roles.muted))
    return palette
