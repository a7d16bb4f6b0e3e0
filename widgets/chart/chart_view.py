"""The view of a chart: which numbers, how they are drawn, and the drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QIODevice, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from liveobj.csv_text import write_csv
from liveobj.documents import DocumentError
from liveobj.objects.chart import TEMPLATE_ID, Chart, Shape
from liveobj.objects.group_objects import SENSOR_ID
from liveobj.opening import Opening
from liveobj.references import Parameterized, Primitive, Reference
from transport.whole_file import export_whole
from widgets import drag
from widgets.action import Action
from widgets.chart.chart_painter import ChartPainter
from widgets.chart.chart_plot import ChartPlot
from widgets.elided_label import ElidedLabel
from widgets.empty_state import EmptyState
from widgets.icons import icon_button
from widgets.language import tr
from widgets.look import SPACE_PX, label, line, page_column
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.throttle import QtAlarm, Throttle

EXPORT_FILTER = "PNG (*.png);;SVG (*.svg);;CSV (*.csv)"
_EXPORT_SIZE = QSize(1200, 720)
_EXPORT_SCALE = 2
_DESCRIBED_MAX = 50


def shapes() -> tuple[tuple[Shape, str, str], ...]:
    """Each shape with its icon and its name."""
    return (
        (Shape.LINE, "chart-line", tr("Lines")),
        (Shape.AREA, "chart-area", tr("Areas")),
        (Shape.BAR, "chart-column", tr("Bars")),
        (Shape.SCATTER, "chart-scatter", tr("Points")),
        (Shape.PIE, "chart-pie", tr("Pie")),
    )


class ChartView(ObjectView):
    """Attributes: `chart`, `plot`."""

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        assert isinstance(opening.shared, Chart), "the kind says what is opened"
        self.chart = opening.shared
        self.data = self.chart.data()
        self.plot = ChartPlot(around.theme)
        self._actions = self._make_actions()
        self._build()
        self._throttle = Throttle(self._show_changes, QtAlarm(self))
        self._subscription = self.chart.observe_data(lambda _: self._throttle.request())
        self._show_changes()

    # Building

    def _build(self) -> None:
        theme = self.around.theme
        column = page_column(self)
        tools = QHBoxLayout()
        tools.setContentsMargins(2 * SPACE_PX, SPACE_PX, 3 * SPACE_PX, SPACE_PX)
        tools.setSpacing(SPACE_PX)
        self._shape_buttons: dict[Shape, QToolButton] = {}
        for shape, icon, title in shapes():
            button = icon_button(self.around.theme, icon, title, partial(self.set_shape, shape))
            button.setCheckable(True)
            self._shape_buttons[shape] = button
            tools.addWidget(button)
        self._columns = icon_button(
            self.around.theme, "columns-3", tr("What is drawn"), self._show_columns_menu
        )
        self._source = icon_button(
            self.around.theme, "table-2", tr("Numbers from…"), self._show_source_menu
        )
        self._export = icon_button(self.around.theme, "download", tr("Export…"), self.ask_export)
        self._words = ElidedLabel("", "muted")
        self._words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        tools.addWidget(self._words, 1)
        for button in (self._columns, self._source, self._export):
            tools.addWidget(button)
        column.addLayout(tools)
        column.addWidget(line())
        self._stack = QStackedWidget()
        choose = QAction(tr("Numbers from…"), self)
        choose.setEnabled(self.chart.document.editable)
        self._stack.addWidget(self.plot)
        self._empty = EmptyState(
            theme,
            "chart",
            tr("No numbers yet"),
            tr("Drop a table or a sensor here, or choose a table that you had open."),
            [choose],
        )
        offer = self._empty.findChild(QPushButton)
        assert offer is not None, "made of the action"
        choose.triggered.connect(lambda: self._pop_up_sources(offer))
        self._stack.addWidget(self._empty)
        self._problem = label("", "reading", wrap=True, centred=True)
        self._stack.addWidget(self._problem)
        column.addWidget(self._stack, 1)
        self.setFocusProxy(self.plot)
        self.setAcceptDrops(True)

    # Showing

    def _show_changes(self) -> None:
        self.data = self.chart.data()
        self.plot.show_data(self.data, self.chart.shape)
        editable = self.chart.document.editable
        for shape, button in self._shape_buttons.items():
            button.setChecked(shape is self.chart.shape)
            button.setEnabled(editable)
        self._source.setEnabled(editable)
        self._columns.setEnabled(editable and bool(self.data.columns))
        self._export.setEnabled(bool(self.data.series))
        self._words.setText(self.chart.source_title)
        self._problem.setText(tr(self.data.problem) if self.data.problem else "")
        if self.chart.source is None:
            self._stack.setCurrentIndex(1)
        else:
            self._stack.setCurrentIndex(2 if self.data.problem else 0)
        self.changed.emit()

    # Intents

    def _try(self, intent: Callable[[], None]) -> None:
        try:
            intent()
        except DocumentError as problem:
            self.around.say(str(problem))
        self._throttle.flush()

    def set_shape(self, shape: Shape) -> None:
        self._try(lambda: self.chart.set_shape(shape))

    def set_source(self, reference: Reference) -> None:
        """Draws the numbers of a table or sensor."""
        if not _can_be_source(reference):
            self.around.say(tr("A chart draws tables and sensors; this is something else."))
            return
        self._try(lambda: self.chart.set_source(reference))

    def toggle_column(self, key: str) -> None:
        """Draws a column, or leaves it out."""
        drawn = [series.key for series in self.data.series]
        new = [each for each in drawn if each != key] if key in drawn else [*drawn, key]
        self._try(lambda: self.chart.choose(new))

    def _show_columns_menu(self) -> None:
        menu = self._menu()
        drawn = {series.key for series in self.data.series}
        for key, name in self.data.columns:
            entry = menu.addAction(name.replace("&", "&&"), partial(self.toggle_column, key))
            entry.setCheckable(True)
            entry.setChecked(key in drawn)
        menu.addSeparator()
        inner = menu.addMenu(tr("Names below"))
        for key, name in self.data.columns:
            set_labels = partial(self.chart.set_labels, key)
            entry = inner.addAction(name.replace("&", "&&"), partial(self._try, set_labels))
            entry.setCheckable(True)
            entry.setChecked(key == self.data.labels_key)
        menu.popup(self._columns.mapToGlobal(self._columns.rect().bottomLeft()))

    def _show_source_menu(self) -> None:
        self._pop_up_sources(self._source)

    def _pop_up_sources(self, under: QWidget) -> None:
        menu = self._menu()
        tables = self.around.recent("table")
        for title, reference in tables:
            menu.addAction(title.replace("&", "&&"), partial(self.set_source, reference))
        if not tables:
            menu.addAction(tr("No table was open lately")).setEnabled(False)
        source = self.chart.source
        if source is not None:
            menu.addSeparator()
            menu.addAction(tr("Open what is drawn"), partial(self.around.show, source))
        menu.popup(under.mapToGlobal(under.rect().bottomLeft()))

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu

    # Export

    def ask_export(self) -> None:
        name = f"{self.opening.title}.png"
        self.around.ask_where_to_save(tr("Export chart"), name, EXPORT_FILTER, self.export_file)

    def export_file(self, file: Path) -> None:
        """Writes a picture, a drawing or the numbers, by the ending of the file."""
        makers = {".svg": self._as_svg, ".csv": self._as_csv}
        try:
            export_whole(file, makers.get(file.suffix.lower(), self._as_png)())
        except OSError as problem:
            self.around.say(
                tr("{file} was not written: {reason}.", file=file.name, reason=problem.strerror)
            )
            return
        self.around.say(tr("Exported {file}.", file=file.name))

    def _paint(self, painter: QPainter) -> None:
        area = QRectF(0, 0, _EXPORT_SIZE.width(), _EXPORT_SIZE.height())
        ChartPainter(self.around.theme).paint(painter, self.data, self.chart.shape, area)

    def _as_png(self) -> bytes:
        image = QImage(_EXPORT_SIZE * _EXPORT_SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(_EXPORT_SCALE)
        painter = QPainter(image)
        self._paint(painter)
        painter.end()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
        return bytes(buffer.data().data())

    def _as_svg(self) -> bytes:
        buffer = QBuffer()
        generator = QSvgGenerator()
        generator.setOutputDevice(buffer)
        generator.setSize(_EXPORT_SIZE)
        generator.setViewBox(QRectF(0, 0, _EXPORT_SIZE.width(), _EXPORT_SIZE.height()))
        generator.setTitle(self.opening.title)
        painter = QPainter(generator)
        self._paint(painter)
        painter.end()
        return bytes(buffer.data().data())

    def _as_csv(self) -> bytes:
        head = ["", *(series.name for series in self.data.series)]
        rows = [
            [
                name,
                *("" if s.values[n] is None else f"{s.values[n]:.15g}" for s in self.data.series),
            ]
            for n, name in enumerate(self.data.labels)
        ]
        return write_csv([head, *rows]).encode("utf-8-sig")

    # Actions

    def _why_no_edit(self) -> str:
        return "" if self.chart.document.editable else tr("you can only view this chart")

    def _why_nothing(self) -> str:
        return "" if self.data.series else tr("there is nothing to see yet")

    def actions_here(self) -> Sequence[Action]:
        return self._actions

    def _make_actions(self) -> tuple[Action, ...]:
        edit, source, columns = self._why_no_edit, self._show_source_menu, self._show_columns_menu
        return (
            *(self._shape_action(shape, title) for shape, _, title in shapes()),
            Action("chart.source", tr("Numbers from…"), source, "", edit),
            Action("chart.columns", tr("What is drawn"), columns, "", edit),
            Action("chart.export", tr("Export chart…"), self.ask_export, "", self._why_nothing),
        )

    def _shape_action(self, shape: Shape, title: str) -> Action:
        return Action(
            f"chart.{shape.value}",
            tr("Draw as: {shape}", shape=title),
            partial(self.set_shape, shape),
            "",
            self._why_no_edit,
            lambda: self.chart.shape is shape,
        )

    # For whoever shows the view

    def show_newest(self) -> None:
        self._throttle.request()
        self._throttle.flush()

    def describe(self) -> dict[str, Any]:
        return {
            "shape": self.chart.shape.value,
            "source": self.chart.source_title,
            "labels": list(self.data.labels[:_DESCRIBED_MAX]),
            "series": {s.name: list(s.values[:_DESCRIBED_MAX]) for s in self.data.series},
            "problem": self.data.problem,
            "pointed": self.plot.values_here(),
        }

    def close_view(self) -> None:
        self._subscription.close()
        self._throttle.close()
        self.around.theme.changed.disconnect(self.plot.redraw)

    # Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.chart.document.editable and drag.may_hold_references(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        dragged = drag.read_drag(event.mimeData())
        if dragged.references:
            self.set_source(dragged.references[0])
            event.acceptProposedAction()
        elif dragged.problems:
            self.around.say(dragged.problems[0])


def _can_be_source(reference: Reference) -> bool:
    if not isinstance(reference, Parameterized) or not isinstance(reference.template, Primitive):
        return False
    return reference.template.id in ("live-objects:table", SENSOR_ID)


KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Chart"),
    sentence=tr("Numbers of a table or of sensors, drawn live"),
    icon="chart-line",
    view=ChartView,
)
