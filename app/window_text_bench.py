"""Measures long texts in a real program, beside a bare text field of Qt that does the same.

Keys in a note and in a document of 2 MB, the paste of 20 MB into a note with what it holds the
window for, and opening that note again. Part of `live-objects bench desktop`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from app.bare_text import WORDS
from app.desktop_bench import Stage
from app.driven_program import START_S, DrivenFailed, DrivenProgram, wait_until
from transport.benches.programs import Effort
from transport.benches.record import Record

KEY_PARAGRAPHS = 16_000  # 2 MB
PASTED_PARAGRAPHS = 165_000  # 20 MB
KEYS = 100
SETTLE_S = 10.0
PASTE_LIMIT_S = 600.0
# The targets.
KEY_S_MAX, FRAME_S_MAX, REOPEN_S_MAX, MEMORY_MB_MAX = 0.016, 0.033, 2.0, 400.0


def measure(effort: Effort) -> Iterator[Record]:
    """One record for each figure; what fails is a record with its sentence."""
    for name, experiment in (
        ("keys in a long note", partial(_keys, "note")),
        ("keys in a long document", partial(_keys, "document")),
        ("a long paste", _paste),
    ):
        with tempfile.TemporaryDirectory(prefix="live-objects-bench-") as folder:
            stage = Stage(Path(folder))
            try:
                yield from experiment(stage, effort)
            except DrivenFailed as problem:
                yield Record(name="desktop", what=name, receivers=0, problem=str(problem))
            finally:
                stage.close()


def _keys(kind: str, stage: Stage, effort: Effort) -> Iterator[Record]:
    """From the key event to the painted frame, in the thread of the window."""
    file = stage.note("Long") if kind == "note" else stage.document("Long")
    program = _open(stage, str(file))
    paragraphs = effort.scaled(KEY_PARAGRAPHS, 200)
    length = program.ask({"do": "lengthen", "paragraphs": paragraphs})["length"]
    _wait_until_shown(program)
    time.sleep(SETTLE_S * effort.share)
    program.ask({"do": "watch", "sizes": False})
    pressed = []
    for number in range(effort.scaled(KEYS, 20)):
        pressed.append(program.ask({"do": "type", "text": "x" if number % 6 else " "}))
        time.sleep(0.05)
    painted = [at_s for at_s, _ in program.ask({"do": "frames"})["painted"]]
    times_s = [
        next((at_s for at_s in painted if at_s > key["done"]), key["done"]) - key["at"]
        for key in pressed
    ]
    bare = _bare("plain" if kind == "note" else "rich", paragraphs)
    middle_s, late_s = _middle(times_s), max(times_s)
    yield Record(
        name="desktop",
        what=f"keys in a long {kind}",
        receivers=1,
        p50_us=middle_s * 1e6,
        p99_us=late_s * 1e6,
        rss_mb=program.memory_mb(),
        target=KEY_S_MAX * 1000,
        met=late_s <= KEY_S_MAX,
        note=(
            f"{length:,} letters: median {middle_s * 1000:.1f} ms, worst {late_s * 1000:.1f} ms; "
            f"bare Qt {_middle(bare['keys_s']) * 1000:.1f} ms, worst "
            f"{max(bare['keys_s']) * 1000:.1f} ms; target in ms"
        ),
        more={"bare": bare},
    )


def _paste(stage: Stage, effort: Effort) -> Iterator[Record]:
    program = _open(stage, str(stage.note("Long")))
    times = effort.scaled(PASTED_PARAGRAPHS, 2000)
    program.ask({"do": "watch", "sizes": False})
    start_s = time.monotonic()
    held_s = program.ask({"do": "paste", "text": f"{WORDS}\n", "times": times}).get("held_s", 0.0)
    wait_until("all is pasted", lambda: not _state(program)["pasting"], PASTE_LIMIT_S)
    took_s = time.monotonic() - start_s
    gaps_s = sorted(program.ask({"do": "frames"}).get("gaps_s") or [0.0])
    saved = partial(_is_saved, program)
    wait_until("all is saved", saved, PASTE_LIMIT_S)
    memory = program.memory_mb()
    bare = _bare("plain", times)
    length = _state(program)["length"]
    late_s = gaps_s[len(gaps_s) * 99 // 100]
    yield Record(
        name="desktop",
        what="a long paste",
        receivers=1,
        p99_us=late_s * 1e6,
        rss_mb=memory,
        target=FRAME_S_MAX * 1000,
        met=late_s <= FRAME_S_MAX,
        note=(
            f"{length:,} letters in {took_s:.1f} s, {memory:.0f} MB; between turns of the loop p99 "
            f"{late_s * 1000:.0f} ms, worst {gaps_s[-1] * 1000:.0f} ms, to begin "
            f"{held_s * 1000:.0f} ms; bare Qt stands still for {bare['paste_s']:.1f} s, "
            f"{bare['memory_mb']:.0f} MB; target in ms"
        ),
        more={"bare": bare, "took_s": took_s},
    )
    yield _reopen(program)


def _reopen(program: DrivenProgram) -> Record:
    program.end()
    start_s = time.monotonic()
    program.start()
    wait_until("the first screen is there", lambda: _state(program)["shown"] > 1, START_S)
    usable_s = time.monotonic() - start_s
    _wait_until_shown(program)
    memory = program.memory_mb()
    return Record(
        name="desktop",
        what="a long note opened again",
        receivers=1,
        p50_us=usable_s * 1e6,
        rss_mb=memory,
        target=REOPEN_S_MAX * 1000,
        met=usable_s <= REOPEN_S_MAX and memory <= MEMORY_MB_MAX,
        note=(
            f"first screen after {usable_s:.1f} s with the start of the program, all of it after "
            f"{time.monotonic() - start_s:.1f} s, {memory:.0f} MB; target in ms"
        ),
    )


def _open(stage: Stage, file: str) -> DrivenProgram:
    program = stage.program("Ada", file)
    wait_until("the program answers", program.answers, START_S)
    return program


def _state(program: DrivenProgram) -> dict[str, Any]:
    """What the program says of the text in front; of one that is busy, that nothing is known."""
    program.check_alive()
    unknown = {"pasting": True, "shown": 0, "length": -1, "state": ""}
    return {**unknown, **program.ask({"do": "long text"})}


def _is_saved(program: DrivenProgram) -> bool:
    return str(_state(program)["state"]).startswith("saved")


def _wait_until_shown(program: DrivenProgram) -> None:
    def shown() -> bool:
        state = _state(program)
        return bool(state["shown"] == state["length"])

    wait_until("all of the text is shown", shown, PASTE_LIMIT_S)


def _bare(kind: str, paragraphs: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "app.bare_text", kind, str(paragraphs)]
    answer = subprocess.run(command, capture_output=True, check=True, timeout=PASTE_LIMIT_S)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def _middle(times_s: list[float]) -> float:
    return sorted(times_s)[len(times_s) // 2]
