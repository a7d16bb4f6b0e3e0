"""What tests of widgets share: the theme, and people whose programs show the same objects."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from tests.app.conftest import hub, make_place
from widgets.roles import Mode
from widgets.theme import Theme

__all__ = ["hub", "make_place"]


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme(qapp, Mode.LIGHT)
    yield theme
    theme.set_mode(Mode.LIGHT)
