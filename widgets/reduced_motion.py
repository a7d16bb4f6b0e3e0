"""Whether things may move by themselves: the system may ask for less of it."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QStyle


def motion_wanted() -> bool:
    """Whether the system lets widgets move by themselves."""
    hint = QStyle.StyleHint.SH_Widget_Animation_Duration
    return QApplication.style().styleHint(hint) > 0
