"""Owns where a chart has its numbers from: a table, or what sensors measure, live."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from liveobj.declare import Dual
from liveobj.formulas.addresses import column_letters
from liveobj.formulas.values import shown
from liveobj.objects.group_objects import SENSOR_ID, SensorEndpoint
from liveobj.objects.table import Table
from liveobj.objects.table_content import TableContent
from liveobj.observers import Subscription
from liveobj.references import Parameterized, Primitive, Reference, ReferenceProblem
from liveobj.runtime import CannotDereference, ProxyReference, ProxyState
from liveobj.runtime.context import Context
from liveobj.runtime.proxy import Proxy

ROWS_MAX = 10_000
SERIES_MAX = 24
MEASURED_MAX = 600


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers by row; None where there is none. `key` stays the same when the name changes."""

    key: str
    name: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class ChartData:
    """What can be drawn. `columns` are all that could be chosen, by key; `problem` is a sentence
    when there is nothing."""

    labels: tuple[str, ...] = ()
    series: tuple[Series, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    labels_key: str = ""
    problem: str = ""


class ChartSource:
    """An open source. Attributes: `title` of it. `changed` is called when there is something
    new."""

    def __init__(self, reference: Reference, context: Context, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._context = context
        self._problem = ""
        self._proxy: ProxyReference | None = None
        self._subscription: Subscription | None = None
        self._table: Table | None = None
        # For each sensor, in the order in which they first spoke, what it measured last.
        self._measured: dict[int, deque[float]] = {}
        self._is_sensor = _template_of(reference) == SENSOR_ID
        try:
            self._proxy = context.dereference(reference)
            self._proxy.when_settled(self._on_settled)
        except (CannotDereference, ReferenceProblem) as problem:
            self._problem = str(problem)

    def _on_settled(self, proxy: Proxy) -> None:
        if self._proxy is None:
            return
        if proxy.state is ProxyState.FAILED:
            self._problem = proxy.problem
        elif self._is_sensor:
            self._context.listen(self._proxy, "sensor", Dual[SensorEndpoint], self)
        else:
            shared = getattr(self._proxy.instance, "shared", None)
            if isinstance(shared, Table):
                self._table = shared
                self._subscription = shared.content.observe(lambda _: self._changed())
            else:
                self._problem = "It is neither a table nor a sensor."
        self._changed()

    def measured(self, sender: int, value: float) -> None:
        """From the sensor's endpoint."""
        if sender in self._measured or len(self._measured) < SERIES_MAX:
            kept = self._measured.setdefault(sender, deque(maxlen=MEASURED_MAX))
            kept.append(value)
            self._changed()

    @property
    def title(self) -> str:
        return self._table.title if self._table is not None else ""

    def data(self, chosen: Sequence[str], labels: str) -> ChartData:
        """The numbers of the chosen columns, or of those that have numbers if none is chosen."""
        if self._problem:
            return ChartData(problem=self._problem)
        if self._table is not None:
            return table_data(self._table.content, chosen, labels)
        if not self._measured:
            return ChartData(problem="Nothing has been measured yet.")
        longest = max(map(len, self._measured.values()))
        series = tuple(
            Series(str(sender), f"Sensor {number + 1}", _at_the_end(values, longest))
            for number, (sender, values) in enumerate(self._measured.items())
        )
        return ChartData(tuple(str(n - longest + 1) for n in range(longest)), series)

    def close(self) -> None:
        if self._subscription is not None:
            self._subscription.close()
        proxy, self._proxy = self._proxy, None
        if proxy is not None:
            proxy.close()


def table_data(content: TableContent, chosen: Sequence[str], labels: str) -> ChartData:
    """What a table gives to a chart."""
    names = {
        column: content.column_name(column) or column_letters(number)
        for number, column in enumerate(content.columns)
    }
    rows = content.rows[:ROWS_MAX]
    if not rows or not names:
        return ChartData(problem="The table is empty.")
    keys = [key for key in chosen if key in names] or [
        column for column in names if _mostly_numbers(content, column, rows)
    ]
    if labels not in names:
        labels = next((c for c in names if c not in keys and _has_texts(content, c, rows)), "")
    if not chosen and labels in keys:
        keys.remove(labels)
    values = {key: [content.value(row, key) for row in rows] for key in keys[:SERIES_MAX]}
    used = [
        number
        for number in range(len(rows))
        if any(isinstance(values[key][number], float) for key in values)
    ]
    series = tuple(
        Series(key, names[key], tuple(_number(values[key][number]) for number in used))
        for key in values
    )
    words = tuple(
        shown(content.value(rows[number], labels)) if labels else str(number + 1) for number in used
    )
    problem = "" if used else "There are no numbers in the table."
    return ChartData(words, series, tuple(names.items()), labels, problem)


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None


def _mostly_numbers(content: TableContent, column: str, rows: Sequence[str]) -> bool:
    values = [content.value(row, column) for row in rows[:200]]
    filled = [value for value in values if value is not None]
    return bool(filled) and 2 * sum(isinstance(v, float) for v in filled) > len(filled)


def _has_texts(content: TableContent, column: str, rows: Sequence[str]) -> bool:
    return any(isinstance(content.value(row, column), str) for row in rows[:200])


def _at_the_end(values: Sequence[float], length: int) -> tuple[float | None, ...]:
    return (*([None] * (length - len(values))), *values)


def _template_of(reference: Reference) -> str:
    if isinstance(reference, Parameterized) and isinstance(reference.template, Primitive):
        return reference.template.id
    return ""
