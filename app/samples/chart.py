"""A chart of the budget: the table lies beside it, and the second person changes its shape."""

from __future__ import annotations

from app.samples import table
from app.samples.sample import Sample, Shown, make_filled
from liveobj.objects.chart import Chart, Shape
from widgets.object_view import ObjectView

TITLE = "Planned and spent"


def _chart(view: ObjectView) -> Chart:
    chart = view.opening.shared
    assert isinstance(chart, Chart), "a chart holds one"
    return chart


def _begin(view: ObjectView) -> None:
    _chart(view).set_source(make_filled(view.around, "table", "Budget", table.fill_plan))


def _draw_bars(view: ObjectView) -> None:
    _chart(view).set_shape(Shape.BAR)


def _is_whole(shown: Shown) -> bool:
    return shown["shape"] == "bar" and len(shown["labels"]) == 6


SAMPLE = Sample(TITLE, (_begin, _draw_bars), _is_whole)
