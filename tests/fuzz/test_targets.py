"""The fuzz targets hold for their seeds, and for some thousand inputs near them; `make fuzz` looks
for longer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.make_corpus import CORPUS, seeds
from tests.fuzz.targets import TARGETS

MUTANTS = 150


def corpus(target: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]


def mutant(data: bytes, rng: random.Random) -> bytes:
    """The same with some bytes changed, left out, doubled or put in."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(found) + 1)
        match rng.randrange(4):
            case 0 if found:
                found[at % len(found)] = rng.randrange(256)
            case 1:
                del found[at : at + rng.randint(1, 8)]
            case 2:
                found[at:at] = found[at : at + rng.randint(1, 16)]
            case _:
                found[at:at] = rng.randbytes(rng.randint(1, 4))
    return bytes(found)


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_target_holds_for_seeds_and_what_is_near_them(target: str) -> None:
    rng = random.Random(target)
    for data in corpus(target):
        TARGETS[target](data)
        for _ in range(MUTANTS):
            TARGETS[target](mutant(data, rng))


def test_every_target_has_seeds_that_can_be_made_again() -> None:
    assert set(seeds()) == set(TARGETS)
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    assert Path(CORPUS / "reference" / "composite.bin").is_file()
