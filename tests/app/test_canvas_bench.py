"""The benchmark of the canvas: it runs, and panning does not depend on how much lies elsewhere."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from app.canvas_bench import at, measure


def test_frames_are_measured_at_every_distance(qapp: QApplication) -> None:
    runs = measure(items=300, frames=12)
    assert [run.name for run in runs] == ["natural size", "a quarter", "an eighth", "all in sight"]
    assert runs[-1].in_sight == 300
    assert all(len(run.times_ms) == 12 for run in runs)
    assert all(0 < at(run.times_ms, 0.5) <= at(run.times_ms, 0.99) for run in runs)
