"""Errors say whose fault it was, in one sentence, with the details attached."""

from __future__ import annotations

import pytest

from transport import binding, errors
from transport.errors import (
    BackPressure,
    EnvironmentRefused,
    Gone,
    Misuse,
    TransportError,
    error_for,
)

FAMILIES = (Misuse, EnvironmentRefused, BackPressure, Gone)


def test_every_result_code_of_the_engine_has_an_error() -> None:
    failures = {code for code in binding.enumeration("qsm_result").values() if code < 0}
    assert failures == errors.RESULT_CODES


@pytest.mark.parametrize("result", sorted(errors.RESULT_CODES))
def test_error_belongs_to_one_family_and_speaks_one_sentence(result: int) -> None:
    error = error_for(result)
    assert sum(isinstance(error, family) for family in FAMILIES) == 1
    assert str(error).endswith(".")
    assert str(error).count(". ") == 0
    assert ":" in str(error), "after the colon comes what to do"


def test_unknown_result_is_still_an_error() -> None:
    assert type(error_for(-999)) is TransportError


def test_details_are_kept_for_the_log_and_out_of_the_sentence() -> None:
    error = error_for(-5, group=b"\x01" * 16, port=None)
    assert error.details == {"group": "01" * 16}
    assert "0101" not in str(error)
    assert "group 0101" in error.described


@pytest.mark.parametrize("result", sorted(errors.RESULT_CODES))
def test_check_raises_for_negative_results_only(result: int) -> None:
    assert binding.check(0) == 0
    assert binding.check(7) == 7
    with pytest.raises(type(error_for(result))) as caught:
        binding.check(result, group=b"\x02" * 16)
    assert caught.value.details["group"] == "02" * 16
    assert caught.value.details["engine"]
