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
    """For what else than this object the person does not want to be asked again."""

    AUTHOR = "author"
    FOLDER = "folder"


def rows_of(summary: Summary, kind_title: str) -> list[tuple[str, str]]:
    """Headings and sentences for the page."""
    rows = [(tr("What it is"), kind_title or tr("Something that this version has no view of"))]
    rows.append((tr("Made by"), _made_by(summary)))
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


def _made_by(summary: Summary) -> str:
    maker = summary.maker
    if maker is not None:
        name = maker.name or tr("Somebody without a name")
        # With hyphens at which a line does not break.
        key = maker.fingerprint.replace("-", "\N{NON-BREAKING HYPHEN}")
        return tr("{name}, signed with the key {key}", name=name, key=key)
    if summary.forged:
        return tr("Unknown author. A name is given, but its signature is not good.")
    return tr("Unknown author. Nobody has signed it.")


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
    """Signals: `go_live(remember)`: the person wants it to run, and a set of what is to be
    remembered; `dismissed`."""

    go_live = Signal(object)
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
        name = "" if summary.maker is None else summary.maker.name
        self.same_author = QCheckBox(tr("Do not ask again for what {name} has signed", name=name))
        self.same_author.setVisible(bool(name) and summary.can_run)
        column.addWidget(self.same_author)
        self.same_folder = QCheckBox(tr("Do not ask again for files from {folder}", folder=folder))
        self.same_folder.setVisible(bool(folder) and summary.can_run)
        column.addWidget(self.same_folder)
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
        boxes = {Remember.AUTHOR: self.same_author, Remember.FOLDER: self.same_folder}
        self.go_live.emit(frozenset(what for what, box in boxes.items() if box.isChecked()))


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
