"""Pictures of results: each experiment that has figures gets one that is well-formed."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from transport.benches.plots import PICTURES, bars, draw_all, lines
from transport.benches.plots import Series as Drawn
from transport.benches.record import Record
from transport.benches.results import write_results


def figures() -> list[Record]:
    made = [
        Record("throughput", "t", 2, rate=9e5, raw=2.5e6, more={"offload": True}),
        Record("throughput", "t", 2, rate=1e5, raw=1.2e5, more={"offload": False}),
        Record("python", "live-objects, a call per batch", 2, rate=4e5),
    ]
    made += [Record("receivers", "r", n, ratio=0.4) for n in (1, 2, 4, 8)]
    made += [Record("groups", "g", 2, groups=n, ratio=0.9) for n in (1, 64, 65536)]
    made += [Record("rates", "r", 2, bytes=n, raw=1e4, p50_us=9, p99_us=30) for n in (100, 1000)]
    for coupled in (False, True):
        more = {"coupled": coupled, "ack_calm_ms": 1, "pending": 5}
        made += [Record("nodes", "n", n, more=more) for n in (2, 2000)]
    return made


def test_every_experiment_with_figures_gets_a_picture(tmp_path: Path) -> None:
    results = tmp_path / "bench.jsonl"
    write_results(results, figures())
    drawn = draw_all(results, tmp_path / "pictures")
    assert [path.stem for path in drawn] == list(PICTURES)
    for path in drawn:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_experiment_without_figures_gets_none(tmp_path: Path) -> None:
    results = tmp_path / "bench.jsonl"
    write_results(results, [Record("groups", "g", 0, problem="It did not run.")])
    assert draw_all(results, tmp_path) == []
    assert json.loads(results.read_text("utf-8").splitlines()[1])["problem"]


@pytest.mark.parametrize("most", [0.0, 0.3, 1.0, 7.0, 99_000.0, 3e6])
def test_any_size_fits_the_page(most: float) -> None:
    for text in (
        bars("b", "y", [("one & two", most)]),
        lines("l", "x", "y", [Drawn("s", [(1, most)])]),
        lines("l", "x", "y", [Drawn("s", [(1, most), (2, 0.0)])], by_tens=True),
    ):
        heights = [float(node.get("y", "0")) for node in ElementTree.fromstring(text).iter()]
        assert all(0 <= height <= 320 for height in heights)
