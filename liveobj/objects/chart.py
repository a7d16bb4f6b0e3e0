"""Owns the chart: which numbers of which object are drawn, and how; the numbers stay there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from liveobj.declare import live_object
from liveobj.documents import Map
from liveobj.documents.observing import Plain
from liveobj.host import Host
from liveobj.objects.chart_source import SERIES_MAX, ChartData, ChartSource
from liveobj.objects.document_object import DocumentProxy
from liveobj.objects.shared_document import SharedDocument, describe_shared, new_shared
from liveobj.observers import Observers, Subscription
from liveobj.references import (
    Parameterized,
    Reference,
    ReferenceProblem,
    fingerprint,
    read_reference,
    write_reference,
)
from liveobj.runtime.context import Context

TEMPLATE_ID = "live-objects:chart"


class Shape(StrEnum):
    """How numbers are drawn."""

    LINE = "line"
    AREA = "area"
    BAR = "bar"
    SCATTER = "scatter"
    PIE = "pie"


def new_chart(title: str, random_bytes: Callable[[int], bytes]) -> Parameterized:
    """The can-edit reference of a chart that did not exist before."""
    return new_shared(TEMPLATE_ID, title, random_bytes)


class Chart(SharedDocument):
    """A chart that is open here. Intents raise DocumentError, and change nothing, when they are
    refused."""

    def prepare(self) -> None:
        self._settings: Map = self.document.map("settings")
        self._changes: Observers[Chart] = Observers()
        self._source: ChartSource | None = None
        self._source_bytes: Plain = None
        self._context: Context | None = None
        self._watch: Subscription | None = None

    def begin(self, context: Context) -> None:
        """Once the object is open: opens its source, too."""
        self._context = context
        self._watch = self._settings.observe(lambda _: self._on_settings())
        self._on_settings()

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._source is not None:
            self._source.close()
            self._source = None
        super().close()

    def observe_data(self, callback: Callable[[Chart], None]) -> Subscription:
        """Calls back when the numbers, or how they are drawn, have changed."""
        return self._changes.observe(callback)

    def _on_settings(self) -> None:
        found = self._settings.get("source")
        if found != self._source_bytes:
            self._source_bytes = found
            if self._source is not None:
                self._source.close()
                self._source = None
            reference = self.source
            if reference is not None and self._context is not None:
                self._source = ChartSource(reference, self._context, self._tell)
        self._tell()

    def _tell(self) -> None:
        self._changes.notify(self)

    # Reading

    @property
    def source(self) -> Reference | None:
        """The object whose numbers are drawn; never the chart itself."""
        found = self._settings.get("source")
        if not isinstance(found, bytes):
            return None
        try:
            reference = read_reference(found)
        except ReferenceProblem:
            return None
        return None if fingerprint(reference) == self.fingerprint else reference

    @property
    def source_title(self) -> str:
        return "" if self._source is None else self._source.title

    @property
    def shape(self) -> Shape:
        found = self._settings.get("shape")
        return Shape(found) if isinstance(found, str) and found in set(Shape) else Shape.LINE

    @property
    def chosen(self) -> list[str]:
        """The columns that are drawn; empty: those with numbers."""
        found = self._settings.get("columns")
        return [k for k in found if isinstance(k, str)] if isinstance(found, list) else []

    @property
    def labels(self) -> str:
        found = self._settings.get("labels")
        return found if isinstance(found, str) else ""

    def data(self) -> ChartData:
        if self._source is None:
            return ChartData()
        return self._source.data(self.chosen[:SERIES_MAX], self.labels)

    # Intents

    def set_source(self, reference: Reference) -> None:
        """Draws the numbers of another object; what was chosen of the former one is forgotten."""
        with self.document.transaction("source"):
            self._settings.set("source", write_reference(reference))
            self._settings.remove("columns")
            self._settings.remove("labels")

    def set_shape(self, shape: Shape) -> None:
        with self.document.transaction("shape"):
            self._settings.set("shape", shape.value)

    def choose(self, columns: Sequence[str]) -> None:
        with self.document.transaction("columns"):
            self._settings.set("columns", list(columns))

    def set_labels(self, column: str) -> None:
        with self.document.transaction("labels"):
            self._settings.set("labels", column)


def open_chart(reference: Reference, host: Host) -> Chart:
    """For whoever sets a chart up without looking at it: its source stays closed. Raises
    ReferenceProblem for a reference that is not a chart's, StorageError if the disk refuses."""
    return Chart(reference, host, describe_shared(reference, TEMPLATE_ID, "chart"))


@live_object(TEMPLATE_ID, title="Chart")
class ChartObject(DocumentProxy):
    """Numbers of a table or of sensors, drawn live."""

    context: Context

    _template_id = TEMPLATE_ID
    _kind = "chart"

    def open_shared(self) -> Chart:
        reference = self.context.reference
        description = describe_shared(reference, TEMPLATE_ID, "chart")
        chart = Chart(reference, self.context.host, description)
        chart.begin(self.context)
        return chart
