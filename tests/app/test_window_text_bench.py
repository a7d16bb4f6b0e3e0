"""The bench of long texts measures real programs and a bare field; here with small texts."""

from __future__ import annotations

from app.window_text_bench import measure
from transport.benches.programs import Effort


def test_every_figure_is_measured_beside_bare_qt() -> None:
    records = list(measure(Effort(share=0.01)))
    assert [record.what for record in records] == [
        "keys in a long note",
        "keys in a long document",
        "a long paste",
        "a long note opened again",
    ]
    assert [record.problem for record in records if record.problem] == []
    assert all("bare Qt" in record.note for record in records[:3])
    assert all(record.rss_mb > 20 for record in records)
