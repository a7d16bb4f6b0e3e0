"""What tests of widgets share: the theme, and notes without a network."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from widgets.roles import Mode
from widgets.theme import Theme


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme(qapp, Mode.LIGHT)
    yield theme
    theme.set_mode(Mode.LIGHT)
