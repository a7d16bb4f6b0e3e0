"""What a person feels is measured with real programs, and says so when it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import desktop_bench
from app.desktop_bench import KEY_S_MAX, Stage, measure
from app.driven_program import DrivenFailed, wait_until
from transport.benches.programs import Effort


def test_a_key_is_followed_to_the_painted_letter(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    try:
        record = desktop_bench._keys(stage, Effort(share=0.05))
    finally:
        stage.close()
    assert record.more["samples"] == 20
    assert 0 < record.p50_us <= record.p99_us < 5e6
    assert record.target == KEY_S_MAX * 1000
    assert record.met is (record.p50_us <= KEY_S_MAX * 1e6)


def test_what_cannot_be_measured_is_a_record_with_its_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_stage: Stage, _effort: Effort) -> None:
        raise DrivenFailed("Nothing was painted.")

    for name in ("_start", "_keys", "_openings", "_flood", "_long_flood", "_memory", "_idle"):
        monkeypatch.setattr(desktop_bench, name, fail)
    records = list(measure(Effort()))
    assert [record.problem for record in records] == ["Nothing was painted."] * 7
    assert len({record.what for record in records}) == 7


def test_waiting_in_vain_is_told() -> None:
    assert wait_until("it is so", lambda: True, 1) < 1
    with pytest.raises(DrivenFailed, match="in vain that pigs fly"):
        wait_until("pigs fly", lambda: False, 0.01)
