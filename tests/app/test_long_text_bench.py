"""The benchmark of long texts: real members, who all have the text in the end."""

from __future__ import annotations

from pathlib import Path

from app import long_text_bench
from app.long_text_bench import Stage


def test_a_pasted_text_is_at_all_members_and_opens_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    try:
        stage.meet()
        records = list(long_text_bench._paste(stage, 50_000))
        assert [record.what for record in records] == [
            "loop held, who pastes",
            "loop held, who types",
            "loop held, who looks",
        ]
        assert all(record.p99_us > 0 and record.rss_mb > 0 for record in records)
        assert long_text_bench._reopen(stage).p99_us > 0
        assert stage.members[0].ask()["length"] >= 50_000
    finally:
        stage.close()
