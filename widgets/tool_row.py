"""A row of tools that shows as many as there is room for; the others are behind a last button.

Windows are narrow at times, and views small inside others. What must always be there (a field to
write in) keeps its place; tools go from the last one on, and are found in a menu under their names.
"""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QMenu, QToolButton, QWidget

from widgets.icons import show_icon
from widgets.language import tr
from widgets.look import SPACE_PX
from widgets.theme import Theme


class ToolRow(QFrame):
    """Attributes: `more`, the button behind which the other tools are, while there are any."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QHBoxLayout(self)
        # How small it can be depends on what goes into the menu; see `minimumSizeHint`.
        self._row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self._row.setContentsMargins(2 * SPACE_PX, SPACE_PX, 2 * SPACE_PX, SPACE_PX)
        self._row.setSpacing(SPACE_PX // 2)
        self._parts: list[QWidget] = []
        self._tools: list[QToolButton] = []
        self._gaps_px = 0
        self._fitted = (-1, -1)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self.more = QToolButton()
        show_icon(self.more, theme, "ellipsis", "muted")
        self.more.setToolTip(tr("More tools"))
        self.more.setAccessibleName(tr("More tools"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(self._menu)
        self.more.hide()
        self._row.addWidget(self.more)

    def set_margin(self, margin_px: int) -> None:
        self._row.setContentsMargins(margin_px, margin_px, margin_px, margin_px)

    def add_tool(self, tool: QToolButton) -> None:
        """A button that may go into the menu; its accessible name is what it is called there."""
        self._tools.append(tool)
        self._insert(tool)

    def add(self, part: QWidget, stretch: int = 0) -> None:
        """Something that always stays, at its smallest size where need be."""
        self._parts.append(part)
        self._insert(part, stretch)

    def add_gap(self) -> None:
        self._gaps_px += 3 * SPACE_PX
        self._row.insertSpacing(self._row.count() - 1, 3 * SPACE_PX)

    def add_stretch(self) -> None:
        self._row.insertStretch(self._row.count() - 1, 1)

    def _insert(self, widget: QWidget, stretch: int = 0) -> None:
        self._row.insertWidget(self._row.count() - 1, widget, stretch)

    @property
    def behind(self) -> list[QToolButton]:
        """The tools for which there is no room, in their order."""
        return [tool for tool in self._tools if tool.isHidden()]

    # Fitting

    def _fit(self) -> None:
        """Takes tools away from the end until the rest has room."""
        left = self.width() - self._fixed_px()
        widths = [_wanted(tool) + self._row.spacing() for tool in self._tools]
        shown = len(widths)
        if sum(widths) > left:
            left -= _wanted(self.more) + self._row.spacing()
            while shown and sum(widths[:shown]) > left:
                shown -= 1
        if (shown, len(widths)) == self._fitted:
            return
        self._fitted = (shown, len(widths))
        for number, tool in enumerate(self._tools):
            tool.setVisible(number < shown)
        self.more.setVisible(shown < len(widths))

    def _fixed_px(self) -> int:
        margins = self._row.contentsMargins()
        parts = [_least(part) + self._row.spacing() for part in self._parts if not part.isHidden()]
        return margins.left() + margins.right() + self._gaps_px + sum(parts)

    def _fill_menu(self) -> None:
        self._menu.clear()
        for tool in self.behind:
            name = tool.accessibleName()
            inner = cast(QMenu | None, tool.menu())
            if inner is not None:
                inner.setTitle(name)
                entry = self._menu.addMenu(inner)
            else:
                entry = self._menu.addAction(name)
                entry.setCheckable(tool.isCheckable())
                entry.setChecked(tool.isChecked())
                entry.triggered.connect(tool.click)
            entry.setIcon(tool.icon())
            entry.setEnabled(tool.isEnabled())

    # Qt

    def sizeHint(self) -> QSize:
        """For all tools, also those that are behind the button now."""
        spacing = self._row.spacing()
        parts = sum(_wanted(p) - _least(p) for p in self._parts if not p.isHidden())
        tools = sum(_wanted(tool) + spacing for tool in self._tools)
        return QSize(self._fixed_px() + parts + tools, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        more = _wanted(self.more) + self._row.spacing() if self._tools else 0
        return QSize(self._fixed_px() + more, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()  # something in it wants another size than before
        return super().event(event)


def _wanted(widget: QWidget) -> int:
    hint = widget.sizeHint().expandedTo(widget.minimumSize())
    return int(hint.boundedTo(widget.maximumSize()).width())


def _least(widget: QWidget) -> int:
    return int(max(widget.minimumWidth(), widget.minimumSizeHint().width()))
