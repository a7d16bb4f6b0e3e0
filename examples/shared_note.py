"""Three PCs write one note; one of them is cut off for a while, and everything merges."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

from liveobj.host import Host, Person
from liveobj.objects.text_note import TextNote, new_note, open_note
from transport.simulation import Simulation, all_admitted

NAMES = ("Ada", "Jun", "Kim")


def run(folder: Path, seed: int = 1) -> str:
    """Returns the text on which all three agree in the end."""
    randomness = random.Random(seed)
    with Simulation(seed) as simulation:
        engines = simulation.add_nodes(len(NAMES))
        assert simulation.run_until(all_admitted(engines))
        reference = new_note("Shopping", randomness.randbytes)
        ada, jun, kim = notes = [
            open_note(
                reference,
                Host(engine, folder / name, Person(name), simulation, randomness.randbytes),
            )
            for name, engine in zip(NAMES, engines, strict=True)
        ]
        assert simulation.run_until(lambda: all(note.state.people == 3 for note in notes))

        ada.text.insert(0, "bread\n")
        assert simulation.run_until(lambda: _agree(notes))

        kim.leave()  # the cable is out: Kim goes on alone, the others go on without Kim
        kim.text.insert(0, "apples\n")
        jun.text.insert(jun.text.length, "cheese\n")
        assert simulation.run_until(lambda: ada.text.to_string() == jun.text.to_string())
        kim.rejoin()
        assert simulation.run_until(lambda: _agree(notes))

        text = ada.text.to_string()
        for note in notes:
            note.close()
    return text


def _agree(notes: list[TextNote]) -> bool:
    return len({note.text.to_string() for note in notes}) == 1


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(run(Path(place)), end="")
