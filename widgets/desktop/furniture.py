"""What floats over the canvas: bars of tools, the people, what to do with an empty desktop, whom
one follows. It takes no room from the desktop and goes where it is not in the way."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from widgets.action import Action
from widgets.desktop.canvas import Canvas
from widgets.desktop.commands import Commands
from widgets.desktop.company import Company
from widgets.desktop.floating_bar import FloatingBar
from widgets.desktop.people_row import PeopleRow
from widgets.language import tr
from widgets.look import SPACE_PX, kind, label
from widgets.theme import Theme

_MARGIN = 3 * SPACE_PX
_HINT_PX = 520
# In a smaller window there is no room for tools.
_WIDTH_MIN_PX = 420
_HEIGHT_MIN_PX = 240


class Furniture(QWidget):
    """Places its parts on the canvas; itself it is never seen. Attributes: `people`, `banner`."""

    def __init__(self, theme: Theme, canvas: Canvas, commands: Commands, company: Company) -> None:
        super().__init__(canvas)
        self.hide()
        self._canvas = canvas
        self._stage = canvas.stage
        self._company = company
        self._tools_wanted = False
        self._looking = FloatingBar(theme, tr("Looking around"), _looking(commands), canvas)
        self._arranging = FloatingBar(theme, tr("Arranging"), _arranging(commands), canvas)
        self.people = PeopleRow(theme, canvas)
        self.people.follow_asked.connect(company.follow)
        self.banner = _Banner(canvas, company.stop)
        self._hint = _Hint(canvas, commands["desktop.place.note"])
        self.refresh()

    def show_tools(self, wanted: bool) -> None:
        """Tools are for who works here, not for who sees a picture of it."""
        self._tools_wanted = wanted
        self.refresh()

    def refresh(self) -> None:
        """Shows what is of use now, where there is room for it."""
        canvas, stage = self._canvas, self._stage
        roomy = canvas.width() >= _WIDTH_MIN_PX and canvas.height() >= _HEIGHT_MIN_PX
        tools = self._tools_wanted and roomy and stage.inside is None
        editable = stage.editable
        self.people.show_people(self._company.others, self._company.followed)
        self._looking.setVisible(self._tools_wanted and roomy)
        self._arranging.setVisible(tools and editable and bool(stage.selection))
        self.people.setVisible(bool(self.people.discs) and self._tools_wanted)
        self._hint.setVisible(not stage.desktop.items and roomy and editable)
        followed = stage.others.people.get(self._company.followed or -1)
        self.banner.show_name(None if followed is None else followed.name)
        for bar in (self._looking, self._arranging):
            bar.refresh()
        self._place()

    def _place(self) -> None:
        canvas = self._canvas
        for bar in (self._looking, self._arranging):
            bar.fit(canvas.width() - 2 * _MARGIN)
        low = canvas.height() - self._looking.height() - _MARGIN
        self._looking.place(canvas.width() - self._looking.width() - _MARGIN, low)
        free = canvas.width() - self._looking.width() - 3 * _MARGIN
        left = max((canvas.width() - self._arranging.width()) // 2, _MARGIN)
        if left + self._arranging.width() > free:
            left = max(min(left, free - self._arranging.width()), _MARGIN)
            low -= self._looking.height() + _MARGIN if self._arranging.width() > free else 0
        self._arranging.place(left, low)
        self.people.move(canvas.width() - self.people.width() - _MARGIN, _MARGIN)
        self._hint.setFixedWidth(max(0, min(_HINT_PX, canvas.width() - 2 * _MARGIN)))
        for part in (self.banner, self._hint):
            part.adjustSize()
        self.banner.move((canvas.width() - self.banner.width()) // 2, _MARGIN)
        self._hint.move(
            (canvas.width() - self._hint.width()) // 2,
            (canvas.height() - self._hint.height()) // 2,
        )


class _Banner(QFrame):
    """Whom one follows, and how to stop."""

    def __init__(self, parent: QWidget, stop: Callable[[], None]) -> None:
        super().__init__(parent)
        kind(self, "float")
        self._words = label("", "plain")
        button = QToolButton()
        button.setText(tr("Stop"))
        button.setAccessibleName(tr("Stop following"))
        button.clicked.connect(stop)
        row = QHBoxLayout(self)
        row.setContentsMargins(3 * SPACE_PX, SPACE_PX, SPACE_PX, SPACE_PX)
        row.addWidget(self._words)
        row.addWidget(button)
        self.hide()

    @property
    def text(self) -> str:
        return self._words.text()

    def show_name(self, name: str | None) -> None:
        if name is not None:
            self._words.setText(tr("You see what {name} sees", name=name))
        self.setVisible(name is not None)


class _Hint(QWidget):
    """What to do with a desktop on which nothing lies."""

    def __init__(self, parent: QWidget, place: Action) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setSpacing(3 * SPACE_PX)
        column.addWidget(label(tr("Nothing lies here yet"), "heading", centred=True))
        words = tr("Drag something here: a tool from the side, another object, a file or text.")
        column.addWidget(label(words, "muted", wrap=True, centred=True))
        button = QPushButton(tr("Place a note"))
        kind(button, "primary")
        button.clicked.connect(place.run)
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)


def _looking(commands: Commands) -> list[list[tuple[str, Action]]]:
    return [
        [
            ("zoom-out", commands["desktop.zoom_out"]),
            ("zoom-in", commands["desktop.zoom_in"]),
            ("maximize", commands["desktop.fit"]),
        ],
        [
            ("list-tree", commands["desktop.outline"]),
            ("mouse-pointer-2", commands["desktop.others"]),
        ],
    ]


def _arranging(commands: Commands) -> list[list[tuple[str, Action]]]:
    return [
        [
            ("align-start-vertical", commands["desktop.align.left"]),
            ("align-center-vertical", commands["desktop.align.centre"]),
            ("align-end-vertical", commands["desktop.align.right"]),
            ("align-start-horizontal", commands["desktop.align.top"]),
            ("align-center-horizontal", commands["desktop.align.middle"]),
            ("align-end-horizontal", commands["desktop.align.bottom"]),
            ("align-horizontal-space-between", commands["desktop.distribute.across"]),
            ("align-vertical-space-between", commands["desktop.distribute.down"]),
        ],
        [
            ("group", commands["desktop.group"]),
            ("ungroup", commands["desktop.ungroup"]),
            ("bring-to-front", commands["desktop.to_front"]),
            ("send-to-back", commands["desktop.to_back"]),
        ],
        [("trash-2", commands["desktop.delete"])],
    ]
