"""A keeper holds objects when nobody has them open."""

from __future__ import annotations

import random
from pathlib import Path

from liveobj.capabilities import view_only
from liveobj.keeping import Keeper
from liveobj.objects.text_note import new_note, open_note
from liveobj.references import write_reference_file
from tests.liveobj.support import Clock, LocalNetwork, make_host

NOTE = new_note("Kept", random.Random(3).randbytes)


def test_what_one_wrote_is_there_for_another_who_comes_later(tmp_path: Path) -> None:
    network, clock = LocalNetwork(), Clock()
    file = tmp_path / "note.liveobject"
    write_reference_file(view_only(NOTE), file)  # a keeper need not be able to edit
    keeper = Keeper(make_host(network, 9, tmp_path, clock), [file, file])
    writer = open_note(NOTE, make_host(network, 1, tmp_path, clock))
    writer.text.insert(0, "while nobody looks")
    network.run()
    writer.close()
    network.run()
    reader = open_note(NOTE, make_host(network, 2, tmp_path, clock))
    network.run()
    assert str(reader.text) == "while nobody looks"
    assert [kept.sentence for kept in keeper.state()] == ["It is kept."]
    reader.close()
    keeper.close()
    keeper.close()
    assert clock.pending == 0


def test_a_file_that_cannot_be_opened_is_told_and_tried_again(tmp_path: Path) -> None:
    network, clock = LocalNetwork(), Clock()
    good, missing, broken = (tmp_path / name for name in ("good", "missing", "broken"))
    write_reference_file(NOTE, good)
    broken.write_text("<html/>")
    keeper = Keeper(make_host(network, 9, tmp_path, clock), [missing, broken, good])
    states = keeper.state()
    assert [kept.running for kept in states] == [False, False, True]
    assert "cannot be read" in states[0].sentence
    assert "not a live object" in states[1].sentence
    write_reference_file(new_note("Late", random.Random(4).randbytes), missing)
    clock.advance(61)
    assert [kept.running for kept in keeper.state()] == [True, False, True]
    keeper.close()
