"""Defects of libraries that a pinned version avoids; these tests notice their return."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot


def test_calls_of_qt_methods_lose_no_reference_to_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 lost one a call of a void method; Python 3.11 aborted after some 5,000."""
    label = QLabel()
    qtbot.addWidget(label)
    label.update()
    before = sys.getrefcount(None)
    for _ in range(40_000):
        label.update()
    # Other parts come and go with a few references meanwhile; the defect cost one a call.
    assert sys.getrefcount(None) > before - 1_000
