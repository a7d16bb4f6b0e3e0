"""What a doctor says, written down."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.transport.test_snapshots import SNAPSHOT
from transport.engine_check import check_engine
from transport.findings import as_json, as_text, bad, good, odd
from transport.snapshot_table import as_table
from widgets.language import set_language


@pytest.fixture
def german() -> Iterator[None]:
    set_language("de")
    yield
    set_language("en")


def test_the_worst_comes_first_and_what_to_do_stands_below() -> None:
    text = as_text(
        [good("clock", "Fine."), odd("vpn", "It is up.", "Try."), bad("x", "Bad.", "Do.")]
    )
    assert (
        text == "bad  x: Bad.\n     -> Do.\nodd  VPN: It is up.\n     -> Try.\ngood clock: Fine.\n"
    )
    assert as_text([]) == "Nothing could be looked at on this system.\n"


def test_findings_are_in_the_language_of_the_person_and_their_subjects_are_not(
    german: None,
) -> None:
    findings = check_engine(SNAPSHOT)
    assert as_text(findings).startswith("gut      Mitgliedschaft: Verbunden mit ")
    assert as_json(findings)[0]["subject"] == "membership"
    assert as_json(findings)[0]["verdict"] == "good"


def test_the_table_of_the_network_is_in_the_language_of_the_person(german: None) -> None:
    table = as_table(SNAPSHOT)
    assert table.startswith("Netz ")
    assert "unbestätigt" in table
