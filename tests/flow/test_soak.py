"""A short soak: real programs, edited, killed and cut at random, hold the same in the end."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from app.driven_program import DrivenFailed, wait_until
from app.killing import Claims
from app.lone_program import is_of_disk
from app.office_wires import NoWires, Wires
from app.soak import agree, soak
from app.stirring import LEDGER, stir
from app.storm import Tally
from liveobj.documents import Document


def test_three_programs_hold_the_same_after_a_storm(tmp_path: Path) -> None:
    result = soak(tmp_path, programs=3, seconds=3, seed=7, paste_kb=40, alone=False)
    assert result["stirs"] > 0
    assert result["saved_marks"] >= result["stirs"]
    assert result["rounds"] > 0
    assert "note" in result["characters"]


def test_a_pulled_cable_parts_and_a_mended_one_joins() -> None:
    try:
        wires = Wires(2)
    except NoWires as reason:
        pytest.skip(str(reason))
    # Whoever is reached refuses the connection; nobody answers over a cable that is pulled.
    knock = (
        "import socket, sys; knock = socket.socket(); knock.settimeout(0.5);"
        "sys.exit(knock.connect_ex(('10.98.0.2', 9)) != 111)"
    )

    def reached() -> bool:
        command = [*wires.at(0), sys.executable, "-c", knock]
        return subprocess.run(command, check=False).returncode == 0

    try:
        assert reached()
        wires.cut(1)
        assert not reached()
        wires.mend(1)
        wait_until("the cable works again", reached, 10)
    finally:
        wires.close()
        wires.close()


class Pretender:
    """Says what it is told to say."""

    def __init__(self, name: str, text: str, *marks: str) -> None:
        self.name = name
        document = {"text": text, LEDGER: dict.fromkeys(marks, True)}
        self._held = {"id": {"kind": "note", "shown": {"text": text}, "document": document}}

    def set_cut(self, cut: bool) -> None:
        assert not cut, "who compares joins all of them"

    def ask(self, request: dict[str, object]) -> dict[str, object]:
        match request["do"]:
            case "contents":
                return {"contents": self._held}
            case "digests":
                digests = {key: str(one["document"]) for key, one in self._held.items()}
                return {"digests": digests, "busy": []}
        return {}


def test_one_different_character_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.soak.AGREE_S", 0.3)
    pair = [Pretender("P0", "one"), Pretender("P1", "ONE")]
    with pytest.raises(DrivenFailed, match=r"differs .*\['text'\]"):
        agree(pair, Tally())  # type: ignore[arg-type]


def test_a_saved_edit_that_is_gone_is_noticed() -> None:
    pair = [Pretender("P0", "one", "P0-1"), Pretender("P1", "one", "P0-1")]
    agree(pair, Tally(claims=Claims({"id": {"P0-1"}})))  # type: ignore[arg-type]
    with pytest.raises(DrivenFailed, match="1 edits that were saved are gone"):
        agree(pair, Tally(claims=Claims({"id": {"P0-1", "P1-2"}})))  # type: ignore[arg-type]


def test_stirring_changes_what_is_there_and_can_be_repeated() -> None:
    def stirred(seed: int) -> dict[str, object]:
        document = Document(1)
        with document.transaction():
            document.text("text").insert(0, "begin")
            document.map("about").set("title", "One")
            document.map("about").set("size", 5)
            document.map("about").set("on", True)
        stir(document, random.Random(seed), 50, "mark")
        return document.to_plain()

    assert stirred(1) == stirred(1)
    assert stirred(1) != stirred(2)
    assert stirred(1)[LEDGER] == {"mark": True}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ERROR liveobj.storage.document_store: x.db could not be written: …", True),
        ("ERROR liveobj.storage.document_2026-11-18 13:09:24 WARNING qt: …", True),
        ("ERROR liveobj.storage.document_store: update 4 of x.db: damaged", False),
        ("ERROR liveobj.observers: an observer failed", False),
    ],
)
def test_what_a_full_disk_makes_a_program_log_is_told_from_other_errors(
    line: str, expected: bool
) -> None:
    assert is_of_disk(line) == expected
