"""Region policies have the names and numbers of the engine; a configuration needs no engine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.source_tree import ROOT
from transport.binding import enumeration
from transport.policies import Policy


def test_policies_are_those_of_the_header_in_its_order() -> None:
    assert [f"QSM_POLICY_{policy.name}" for policy in Policy] == list(enumeration("qsm_policy"))
    assert [policy.value for policy in Policy] == list(range(len(Policy)))


def test_numbers_that_were_published_have_stayed() -> None:
    published = {"EXACT": 0, "SIMILAR": 1, "HIERARCHY": 2, "PLAN": 3}
    assert {policy.name: policy.value for policy in Policy}.items() >= published.items()


def test_a_name_that_the_engine_does_not_have_is_an_error() -> None:
    with pytest.raises(KeyError):
        Policy["NONE"]


def test_the_command_line_is_read_where_the_engine_has_not_been_built() -> None:
    program = "import sys; sys.modules['native._engine'] = None; import app.command_line"
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
