"""Desktops over the real engine in the simulator: random gestures of everybody, while packets are
lost, the office is cut in two, somebody crashes and somebody comes late.

Afterwards all must show the same. What each person did is also played on a plain model, whose rules
are written down anew here: deleted stays deleted, the rest is there, and every place, size and name
is one that somebody gave last.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from liveobj.objects.desktop import Desktop, new_desktop
from liveobj.objects.desktop_items import Frame
from liveobj.references import Primitive
from liveobj.runtime import Runtime
from tests.liveobj.objects.replicas import Replicas


class Players:
    """Everybody's random gestures, and what must come of them."""

    def __init__(self, office: Replicas, seed: int) -> None:
        self.office = office
        self.chance = random.Random(seed)
        self.placed: set[str] = set()
        self.deleted: set[str] = set()
        self.places: dict[str, set[tuple[float, float]]] = {}
        self.sizes: dict[str, set[tuple[float, float]]] = {}
        self.names: dict[str, set[str]] = {}

    def desktop(self, number: int) -> Desktop:
        plane: Desktop = self.office.proxies[number].instance.plane
        return plane

    def play(self, number: int) -> None:
        desktop, chance = self.desktop(number), self.chance
        known = sorted(desktop.items)
        gesture = chance.randrange(9)
        if len(known) < 3 or gesture == 0:
            self._place(desktop)
            return
        some = chance.sample(known, chance.randint(1, min(4, len(known))))
        match gesture:
            case 1 | 2 | 3:
                self._arrange(desktop, some)
            case 4:
                desktop.bring_to_front(some)
            case 5:
                desktop.send_backward(some)
            case 6:
                desktop.group(some)
            case 7:
                desktop.ungroup(some)
            case 8 if chance.random() < 0.4:
                desktop.delete(some)
                self.deleted.update(some)
            case _:
                name = f"name {chance.randrange(1000)}"
                desktop.entitle(some[0], name)
                self.names.setdefault(some[0], {""}).add(name)

    def _place(self, desktop: Desktop) -> None:
        frame = self._frame()
        identity = desktop.place(Primitive("a:b"), frame)
        self.placed.add(identity)
        self._remember(identity, frame)

    def _arrange(self, desktop: Desktop, some: list[str]) -> None:
        frames = {identity: self._frame() for identity in some}
        desktop.arrange(frames)
        for identity, frame in frames.items():
            self._remember(identity, frame)

    def _frame(self) -> Frame:
        draw = self.chance.randrange
        return Frame(draw(-5000, 5000), draw(-5000, 5000), draw(50, 900), draw(50, 900))

    def _remember(self, identity: str, frame: Frame) -> None:
        self.places.setdefault(identity, set()).add((frame.x, frame.y))
        self.sizes.setdefault(identity, set()).add((frame.width, frame.height))

    def check(self) -> None:
        """The oracle: of one desktop, since all are the same."""
        items = self.desktop(0).items
        assert set(items) == self.placed - self.deleted
        for identity, item in items.items():
            assert (item.frame.x, item.frame.y) in self.places[identity]
            assert (item.frame.width, item.frame.height) in self.sizes[identity]
            assert item.title in self.names.get(identity, {""})


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_everybody_arranges_at_once(tmp_path: Path, seed: int) -> None:
    reference = new_desktop("Team", random.Random(seed).randbytes)
    office = Replicas(tmp_path, reference, 4, seed, loss=0.05)
    players = Players(office, seed)

    def people(count: int) -> bool:
        return all(proxy.instance.shared.state.people == count for proxy in office.proxies)

    def same() -> bool:
        first, *others = (players.desktop(n) for n in range(len(office.proxies)))
        return all(
            other.items == first.items
            and other.in_order() == first.in_order()
            and other.document.version == first.document.version
            for other in others
        )

    def gestures(count: int) -> None:
        for _ in range(count):
            players.play(players.chance.randrange(len(office.proxies)))
            if players.chance.random() < 0.3:
                office.simulation.run_for(0.02)

    office.until(lambda: people(4))
    gestures(60)
    office.simulation.partition(office.engines[:2], office.engines[2:])
    gestures(30)
    office.until(lambda: people(2), 180)
    gestures(30)
    office.simulation.heal()
    office.until(lambda: people(4), 180)
    office.until(same, 180)
    players.check()

    # Long enough that nothing of the one who crashes waits on the clock: its process is gone then.
    office.simulation.run_for(130)
    assert players.desktop(3).state.saved
    office.engines[3].crash()
    office.engines[3].restart()
    office.runtimes[3] = Runtime(office.host(office.engines[3], 3))
    office.proxies[3] = office.runtimes[3].dereference(reference)
    office.join()
    gestures(20)
    office.until(lambda: people(5), 180)
    office.until(same, 180)
    players.check()
    office.close()
