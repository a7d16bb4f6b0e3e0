"""Measures what the program costs while nobody does anything: processor time of two open windows.

Two real programs have the same note open, with each other's carets in it. Needs a display, which
may be a virtual one, and xdotool:

    python installers/virtual_display.py python -m app.idle_bench
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from app.actor import Actor
from liveobj.objects.text_note import new_note
from liveobj.references import write_reference_file

# Start-up, catching up and the flags of carets are over by then.
SETTLE_S = 10.0
WORD = "quiet"


def measure(folder: Path, span_s: float) -> dict[str, float]:
    """Seconds of processor time by program over the span; all threads, the screen's not counted."""
    note = folder / "Quiet.liveobject"
    write_reference_file(new_note("Quiet", os.urandom), note)
    actors: list[Actor] = []
    try:
        actors.extend(Actor(folder / name, name, str(note)) for name in ("Ada", "Jun"))
        actors[0].wait_note("is not alone", lambda note: len(note.get("people", [])) == len(actors))
        actors[0].type(WORD)
        actors[1].wait_note("has the word", lambda note: note.get("text") == WORD)
        time.sleep(SETTLE_S)
        before_s = [actor.cpu_s() for actor in actors]
        time.sleep(span_s)
        return {
            actor.name: round(actor.cpu_s() - used_s, 3)
            for actor, used_s in zip(actors, before_s, strict=True)
        }
    finally:
        for actor in actors:
            actor.quit()


def main() -> int:
    """Prints the share of a core that each program took, and the seconds it is made from."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to measure")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    arguments = parser.parse_args()
    span_s: float = arguments.seconds
    with tempfile.TemporaryDirectory() as scratch:
        cpu_s = measure(Path(scratch), span_s)
    if arguments.json:
        sys.stdout.write(json.dumps({"span_s": span_s, "cpu_s": cpu_s}) + "\n")
        return 0
    for name, used_s in cpu_s.items():
        share = used_s / span_s
        sys.stdout.write(
            f"idle  {name}: {used_s:.2f} s of processor time in {span_s:.0f} s,"
            f" {share:.2%} of a core\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
