"""Every document object through the same faults: both sides of a partition write, one crashes and
comes back, one joins late; in the end all have the same, and nothing is missing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from liveobj.objects.catalogue import MAKERS
from liveobj.objects.desktop_items import Frame
from liveobj.objects.image import Mark
from liveobj.references import Primitive, Reference, write_reference
from liveobj.richtext.model import Paragraph, Run
from liveobj.runtime import Runtime
from tests.liveobj.objects.replicas import Replicas


@dataclass(frozen=True)
class Case:
    """How to write a numbered mark into an object, and how to read its marks."""

    kind: str
    write: Callable[[Any, int], None]
    read: Callable[[Any], set[int]]


def read_counter(instance: Any) -> set[int]:
    value = int(instance.content.value)
    return {bit for bit in range(32) if value & (1 << bit)}


CASES = [
    Case(
        "note",
        lambda i, n: i.note.text.insert(i.note.text.length, f"{n} "),
        lambda i: {int(word) for word in str(i.note.text).split()},
    ),
    Case(
        "document",
        lambda i, n: i.shared.body.insert(0, [Paragraph((Run(str(n), {"bold": True}),))]),
        lambda i: {int(word) for word in re.findall(r"\d", str(i.shared.text))},
    ),
    Case(
        "map",
        lambda i, n: i.content.set(str(n), n),
        lambda i: {int(name) for name in i.content},
    ),
    Case("counter", lambda i, n: i.content.add(1 << n), read_counter),
    Case("log", lambda i, n: i.content.append(n), lambda i: set(i.content)),
    Case(
        "desktop",
        lambda i, n: i.plane.place(Primitive("a:b"), Frame(n, 0, 100, 100)),
        lambda i: {int(item.frame.x) for item in i.plane.items.values()},
    ),
    Case(
        "table",
        lambda i, n: i.shared.write({(i.shared.insert_rows(0)[0], "c"): f"{n}"}),
        lambda i: {
            int(text) for row in i.shared.content.rows if (text := i.shared.content.text(row, "c"))
        },
    ),
    Case(
        "image",
        lambda i, n: i.shared.draw(Mark("pen", ((n / 10, 0), (1, 1)), "#336699", 0.01)),
        lambda i: {round(10 * mark.points[0][0]) for mark in i.shared.drawn().values()},
    ),
    Case(
        "chart",
        lambda i, n: i.shared.document.map("settings").set(str(n), n),
        lambda i: {int(name) for name in i.shared.document.map("settings")},
    ),
    Case(
        "files",
        lambda i, n: i.shared.put(f"{n}.txt", f"{n:064}", n),
        lambda i: {file.newest.size for file in i.shared.files()},
    ),
    Case(
        "chat",
        lambda i, n: i.shared.say(str(n)),
        lambda i: {int(message.text) for message in i.shared.all()},
    ),
    Case(
        "folder",
        lambda i, n: i.content.set(str(n), write_reference(Primitive("a:b"))),
        lambda i: {int(name) for name in i.content},
    ),
]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_partition_crash_and_late_join(tmp_path: Path, case: Case, seed: int) -> None:
    reference: Reference = MAKERS[case.kind]("x", random.Random(seed).randbytes)
    office = Replicas(tmp_path, reference, 4, seed, loss=0.02)

    def people(numbers: list[int], count: int) -> Callable[[], bool]:
        return lambda: all(office.proxies[n].instance.shared.state.people == count for n in numbers)

    def all_have(numbers: list[int], marks: set[int]) -> Callable[[], bool]:
        return lambda: all(case.read(office.proxies[n].instance) == marks for n in numbers)

    everybody = [0, 1, 2, 3]
    office.until(people(everybody, 4))
    for number in everybody:
        case.write(office.proxies[number].instance, number)
    office.until(all_have(everybody, {0, 1, 2, 3}))
    office.simulation.partition(office.engines[:2], office.engines[2:])
    office.until(people(everybody, 2), 180)
    case.write(office.proxies[0].instance, 4)
    case.write(office.proxies[3].instance, 5)
    office.until(all_have([0, 1], {0, 1, 2, 3, 4}))
    office.until(all_have([2, 3], {0, 1, 2, 3, 5}))
    office.simulation.heal()
    office.until(people(everybody, 4), 180)
    office.until(all_have(everybody, {0, 1, 2, 3, 4, 5}), 180)

    case.write(office.proxies[2].instance, 6)
    office.until(lambda: office.proxies[2].instance.shared.state.saved)
    office.engines[2].crash()
    office.until(people([0, 1, 3], 3), 180)
    office.engines[2].restart()
    office.runtimes[2] = Runtime(office.host(office.engines[2], 2))
    office.proxies[2] = office.runtimes[2].dereference(reference)
    office.join()
    marks = {0, 1, 2, 3, 4, 5, 6}
    office.until(all_have([0, 1, 2, 3, 4], marks), 180)
    office.close()
