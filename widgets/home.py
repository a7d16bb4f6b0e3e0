"""The first page: what one can begin, and what one had open lately."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QGridLayout, QScrollArea, QToolButton, QVBoxLayout, QWidget

from widgets.empty_state import EmptyState
from widgets.icons import show_picture_icon
from widgets.language import tr
from widgets.listed_object import ListedObject
from widgets.look import SPACE_PX, kind, label
from widgets.object_kind import Kinds
from widgets.theme import Theme

_COLUMNS = 4
_CARD = QSize(148, 116)


class Home(QScrollArea):
    """Signals: `open_recent(key)` when a card is chosen."""

    open_recent = Signal(str)

    def __init__(
        self,
        theme: Theme,
        kinds: Kinds,
        actions: Sequence[QAction],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._kinds = kinds
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setAccessibleName(tr("Home"))
        page = QWidget()
        kind(page, "page")
        self.setWidget(page)
        column = QVBoxLayout(page)
        column.setContentsMargins(*[10 * SPACE_PX] * 4)
        column.addStretch(2)
        column.addWidget(
            EmptyState(
                theme,
                "home",
                tr("A table for everyone"),
                tr(
                    "Make a note and hand it to a colleague: what one of you writes, both have, at"
                    " once and without a server."
                ),
                actions,
            )
        )
        column.addSpacing(6 * SPACE_PX)
        self._heading = label(tr("Lately on your table"), "section", centred=True)
        column.addWidget(self._heading)
        column.addSpacing(SPACE_PX)
        self._cards = QGridLayout()
        self._cards.setSpacing(3 * SPACE_PX)
        column.addLayout(self._cards)
        column.addStretch(3)
        self.show_recent(())

    def show_recent(self, recent: Sequence[ListedObject]) -> None:
        """Takes the newest list, latest first."""
        while (item := self._cards.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        self._heading.setVisible(bool(recent))
        shown = recent[:_COLUMNS]
        self._cards.setColumnStretch(0, 1)
        for number, entry in enumerate(shown):
            self._cards.addWidget(self._card(entry), 0, number + 1)
        self._cards.setColumnStretch(len(shown) + 1, 1)

    def _card(self, entry: ListedObject) -> QToolButton:
        card = QToolButton()
        kind(card, "tool")
        card.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        card.setIconSize(QSize(40, 40))
        show_picture_icon(card, self._theme, self._kinds.picture(entry.kind))
        words = card.fontMetrics().elidedText(
            entry.title, Qt.TextElideMode.ElideRight, _CARD.width() - 6 * SPACE_PX
        )
        card.setText(words.replace("&", "&&"))
        card.setToolTip(entry.where or entry.title)
        card.setAccessibleName(tr("Open {title}", title=entry.title))
        card.setFixedSize(_CARD)
        card.clicked.connect(lambda: self.open_recent.emit(entry.key))
        return card
