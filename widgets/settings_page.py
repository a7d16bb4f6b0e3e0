"""All that one can choose, on one page that can be searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from widgets.card_page import CardPage
from widgets.icons import icon
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.switch import Switch
from widgets.theme import Theme
from widgets.welcome import ColourChoice


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing to choose: what it is called, what it means, and the control that shows it."""

    title: str
    sentence: str
    control: QWidget


def text_control(value: str, length_max: int, changed: Callable[[str], None]) -> QLineEdit:
    """A line of text; an empty one is not taken over."""
    field = QLineEdit(value)
    kind(field, "filter")
    field.setMaxLength(length_max)

    def take() -> None:
        text = field.text().strip()
        if text:
            changed(text)
        else:
            field.setText(value)

    field.editingFinished.connect(take)
    return field


def switch_control(theme: Theme, value: bool, changed: Callable[[bool], None]) -> Switch:
    """Yes or no."""
    switch = Switch(theme, value)
    switch.toggled.connect(changed)
    return switch


class _Choice(QComboBox):
    """A box whose arrow is drawn in the theme's colour."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    # Qt

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        arrow = icon(self._theme, "chevron-down", "muted")
        room = self.rect().adjusted(self.width() - 28, 0, -8, 0)
        arrow.paint(painter, room)
        painter.end()


def choice_control(
    theme: Theme, choices: Sequence[tuple[str, str]], value: str, changed: Callable[[str], None]
) -> QComboBox:
    """One of several; each has a value and words."""
    box = _Choice(theme)
    for one, words in choices:
        box.addItem(words, one)
    box.setCurrentIndex(max(0, box.findData(value)))
    box.currentIndexChanged.connect(lambda index: changed(box.itemData(index)))
    return box


def colour_control(theme: Theme, value: str, changed: Callable[[str], None]) -> ColourChoice:
    """One of the twelve colours."""
    choice = ColourChoice(theme, value)
    choice.chosen.connect(changed)
    return choice


class SettingsPage(CardPage):
    """A field to search in, and below it what fits."""

    def __init__(self, settings: Sequence[Setting], parent: QWidget | None = None) -> None:
        super().__init__(170 * SPACE_PX, parent)
        self._field = QLineEdit()
        kind(self._field, "filter")
        self._field.setPlaceholderText(tr("Search settings"))
        self._field.setAccessibleName(tr("Search settings"))
        self._field.textChanged.connect(self._filter)
        self._nothing = label(tr("Nothing here is called like that."), "muted")
        self._nothing.hide()
        self._rows = [(setting, _row(setting)) for setting in settings]
        self.column.addWidget(label(tr("Settings"), "heading"))
        self.column.addWidget(self._field)
        for _, row in self._rows:
            self.column.addWidget(row)
        self.column.addWidget(self._nothing)
        self.setFocusProxy(self._field)

    def shown_titles(self) -> list[str]:
        """The settings that fit what is searched for."""
        return [setting.title for setting, row in self._rows if not row.isHidden()]

    def _filter(self, text: str) -> None:
        wanted = text.strip().casefold()
        for setting, row in self._rows:
            row.setVisible(wanted in f"{setting.title} {setting.sentence}".casefold())
        self._nothing.setVisible(not self.shown_titles())


def _row(setting: Setting) -> QWidget:
    row = QWidget()
    words = QVBoxLayout()
    words.setSpacing(SPACE_PX // 2)
    words.addStretch(1)
    words.addWidget(label(setting.title, "strong", wrap=True))
    words.addWidget(label(setting.sentence, "small", wrap=True))
    words.addStretch(1)
    setting.control.setAccessibleName(setting.title)
    setting.control.setAccessibleDescription(setting.sentence)
    across = QHBoxLayout(row)
    across.setContentsMargins(0, SPACE_PX, 0, SPACE_PX)
    across.setSpacing(5 * SPACE_PX)
    across.addLayout(words, 3)
    alignment = Qt.AlignmentFlag.AlignVCenter
    if isinstance(setting.control, Switch):
        across.addWidget(setting.control, 0, alignment)
    else:
        across.addWidget(setting.control, 2, alignment)
    return row
