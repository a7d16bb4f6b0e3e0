"""What a reference from somewhere else would do, before it does anything: a page to read, and a
button to go live."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from liveobj.references.summary import Part, Summary
from widgets.card_page import CardPage
from widgets.icons import show_picture
from widgets.language import tr, tr_n
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

_PICTURE = QSize(56, 56)
_PARTS_MAX = 40


class Remember(Enum):
    """What the person wants to be remembered of their choice."""

    OBJECT = "object"
    FOLDER = "folder"


def rows_of(summary: Summary, kind_title: str) -> list[tuple[str, str]]:
    """Headings and sentences for the page."""
    rows = [(tr("What it is"), kind_title or tr("Something that this version has no view of"))]
    if summary.author:
        shown = " ".join(summary.author[i : i + 4] for i in range(0, 16, 4))
        rows.append((tr("Made by"), tr("Whoever holds the key {key}…", key=shown)))
    else:
        rows.append((tr("Made by"), tr("It does not say.")))
    rows.append(
        (
            tr("You could"),
            tr("read and edit it") if summary.can_edit else tr("read it, but not edit it"),
        )
    )
    rows.append((tr("It would join"), _groups(summary.groups)))
    if summary.code or summary.unknown:
        names = ", ".join([*summary.code, *summary.unknown])
        rows.append(
            (
                tr("It would run"),
                tr("code that does not come with the program: {names}", names=names),
            )
        )
    else:
        rows.append((tr("It would run"), tr("only what comes with the program")))
    if summary.can_run:
        rows.append((tr("Verdict"), tr("It is in order and can go live here.")))
    else:
        rows.append(
            (tr("Verdict"), tr("It cannot run here. {why}", why=" ".join(summary.problems)))
        )
    return rows


def _groups(groups: Sequence[str]) -> str:
    if not groups:
        return tr("no group of the network by itself")
    shown = ", ".join(f"{group[:8]}…" for group in groups[:4])
    return tr_n(
        "{count} group of the network ({names})",
        "{count} groups of the network ({names})",
        len(groups),
        names=shown,
    )


class Preview(CardPage):
    """Signals: `go_live(remember)`: the person wants it to run; `dismissed`."""

    go_live = Signal(Remember)
    dismissed = Signal()

    def __init__(
        self,
        theme: Theme,
        summary: Summary,
        picture: str,
        kind_title: str,
        folder: str,
        parent: QWidget | None = None,
    ) -> None:
        """`folder` is where its file is, or empty if it came another way."""
        super().__init__(parent=parent)
        title = summary.title or tr("A live object")
        column = self.column
        column.addLayout(_head(theme, picture, title))
        rows = rows_of(summary, kind_title)
        column.addLayout(_table(rows))
        if len(summary.parts) > 2:
            column.addWidget(_parts(summary.parts))
        self._same = QCheckBox(tr("Do not ask again for files from {folder}", folder=folder))
        self._same.setVisible(bool(folder) and summary.can_run)
        column.addWidget(self._same)
        column.addLayout(self._buttons(summary.can_run))
        words = "; ".join(f"{heading}: {sentence}" for heading, sentence in rows)
        self.setAccessibleName(tr("Preview of {title}", title=title))
        self.setAccessibleDescription(words)

    def _buttons(self, can_run: bool) -> QHBoxLayout:
        self.live_button = QPushButton(tr("Go live"))
        kind(self.live_button, "primary")
        self.live_button.setEnabled(can_run)
        self.live_button.clicked.connect(self._on_live)
        leave = QPushButton(tr("Leave it"))
        leave.clicked.connect(self.dismissed)
        row = QHBoxLayout()
        row.setSpacing(2 * SPACE_PX)
        row.addWidget(self.live_button)
        row.addWidget(leave)
        row.addStretch(1)
        self.setFocusProxy(self.live_button if can_run else leave)
        return row

    def _on_live(self) -> None:
        self.go_live.emit(Remember.FOLDER if self._same.isChecked() else Remember.OBJECT)


def _head(theme: Theme, picture: str, title: str) -> QHBoxLayout:
    drawing = QLabel()
    show_picture(drawing, theme, picture, _PICTURE)
    words = QVBoxLayout()
    words.setSpacing(SPACE_PX)
    words.addWidget(label(title, "heading", wrap=True))
    words.addWidget(
        label(tr("This came from somewhere else. Nothing of it runs yet."), "muted", wrap=True)
    )
    row = QHBoxLayout()
    row.setSpacing(4 * SPACE_PX)
    row.addWidget(drawing, 0, Qt.AlignmentFlag.AlignTop)
    row.addLayout(words, 1)
    return row


def _table(rows: Sequence[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(5 * SPACE_PX)
    grid.setVerticalSpacing(2 * SPACE_PX)
    grid.setColumnStretch(1, 1)
    for number, (heading, sentence) in enumerate(rows):
        grid.addWidget(label(heading, "strong"), number, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(label(sentence, "muted", wrap=True), number, 1)
    return grid


def _parts(parts: Sequence[Part]) -> QLabel:
    lines = [f"{'    ' * part.depth}{part.role}: {part.what}" for part in parts[:_PARTS_MAX]]
    if len(parts) > _PARTS_MAX:
        lines.append(tr("and {count} more", count=len(parts) - _PARTS_MAX))
    code = label("\n".join(lines), "code", wrap=True)
    code.setAccessibleName(tr("What it is made of"))
    return code
