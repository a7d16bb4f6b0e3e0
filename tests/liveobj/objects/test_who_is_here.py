"""Who is in an object, told by the network: those who leave, those who drop out, those who hide."""

from __future__ import annotations

import random
from pathlib import Path

from liveobj.channels.presence import GRACE_S, Attention
from liveobj.objects.shared_document import SharedDocument
from liveobj.objects.text_note import new_note
from tests.liveobj.objects.replicas import Replicas


def three(folder: Path) -> tuple[Replicas, list[SharedDocument]]:
    office = Replicas(folder, new_note("Tea", random.Random(1).randbytes), 3)
    shared = [proxy.instance.shared for proxy in office.proxies]
    office.until(lambda: all(len(one.presence.others) == 2 for one in shared))
    return office, shared


def test_who_says_good_bye_is_gone_at_once(tmp_path: Path) -> None:
    office, shared = three(tmp_path)
    shared[1].presence.set_hidden(True)
    office.until(lambda: len(shared[0].presence.others) == 1)
    office.proxies[1].close()
    office.until(lambda: shared[0].state.people == 2)
    assert shared[0].presence.lost == {}
    office.close()


def test_who_drops_out_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    office, shared = three(tmp_path)
    seen: list[int] = []
    shared[0].presence.observe(lambda presence: seen.append(len(presence.lost)))
    office.engines[2].crash()
    office.until(lambda: len(shared[0].presence.lost) == 1)
    start_s = office.hosts[0].scheduler.time()
    office.until(lambda: shared[0].presence.lost == {})
    assert office.hosts[0].scheduler.time() - start_s > GRACE_S - 1
    assert seen[-1] == 0
    office.close()


def test_who_hides_is_not_named_and_comes_back_with_what_is_true_then(tmp_path: Path) -> None:
    office, shared = three(tmp_path)
    shared[1].presence.set_hidden(True)
    office.until(lambda: len(shared[0].presence.others) == 1)
    assert shared[0].state.people == 3
    shared[1].presence.set_attention(Attention.IDLE)
    shared[1].presence.set_hidden(False)
    office.until(lambda: len(shared[0].presence.others) == 2)
    told = {entry.attention for entry in shared[0].presence.others.values()}
    assert told == {Attention.LOOKING, Attention.IDLE}
    office.close()
