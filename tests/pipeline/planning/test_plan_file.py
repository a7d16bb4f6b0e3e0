"""Plan files: what is written the membership service takes; what it refuses is refused here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import PipelineProblem
from pipeline.planning.plan_file import PlannedSet, name_of, parse_plan, plan_text, read_plan
from transport.errors import TransportError
from transport.simulation import Simulation

ID = "00112233445566778899aabbccddeeff"
FIRST = "live-objects-plan 1\n"

_NAMES = st.text("abcXYZ019._-", min_size=1, max_size=64)


def engine_takes(text: str) -> bool:
    with Simulation() as simulation:
        try:
            simulation.add_node().set_plan(text)
        except TransportError:
            return False
        return True


@given(st.dictionaries(st.binary(min_size=16, max_size=16), st.tuples(st.booleans(), _NAMES)))
def test_plan_comes_back_and_the_engine_takes_it(entries: dict[bytes, tuple[bool, str]]) -> None:
    groups: dict[tuple[bool, str], list[str]] = {}
    for group, key in entries.items():
        groups.setdefault(key, []).append(group.hex())
    sets = [
        PlannedSet("cluster" if cluster else "hierarchy", name, tuple(ids))
        for (cluster, name), ids in groups.items()
    ]
    text = plan_text(sets, ("a comment", "x" * 500))
    assert parse_plan(text) == sets
    assert engine_takes(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "live-objects-plan 2\n",
        "live-objects-plan 1 \n",
        f"{FIRST}group {ID}\n",
        f"{FIRST}group {ID[:-1]} cluster x\n",
        f"{FIRST}group {ID} cluster \n",
        f"{FIRST}group {ID} cluster {'x' * 65}\n",
        f"{FIRST}group {ID} cluster ü\n",
        f"{FIRST}group {ID} circle x\n",
        f"{FIRST}group  {ID} cluster x\n",
        f"{FIRST}group {ID} cluster x y\n",
        f"{FIRST}group {ID} cluster x\ngroup {ID.upper()} cluster y\n",
        f"{FIRST}# {'x' * 200}\n",
        f"{FIRST}\tgroup {ID} cluster x\n",
        f"{FIRST}\x00\n",
    ],
)
def test_engine_and_pipeline_refuse_the_same(text: str) -> None:
    with pytest.raises(PipelineProblem):
        parse_plan(text)
    assert not engine_takes(text)


@given(st.text(alphabet="group 0123abcdef cluster-hy\n\r#", max_size=120))
def test_engine_and_pipeline_agree_on_any_text(tail: str) -> None:
    text = FIRST + tail
    try:
        parse_plan(text)
    except PipelineProblem:
        assert not engine_takes(text)
    else:
        assert engine_takes(text)


def test_files_that_are_no_plans_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PipelineProblem, match="cannot be read"):
        read_plan(tmp_path / "none")
    with pytest.raises(PipelineProblem, match="cannot be read"):
        read_plan(tmp_path)
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    with pytest.raises(PipelineProblem, match="is not a plan"):
        read_plan(tmp_path / "binary")
    (tmp_path / "wrong").write_text(f"{FIRST}group {ID} cluster\n")
    with pytest.raises(PipelineProblem, match="line 2"):
        read_plan(tmp_path / "wrong")


def test_names_are_of_their_kind_and_steady() -> None:
    assert name_of("cluster", ("b", "a")) == name_of("cluster", ("a", "c"))
    assert name_of("cluster", ("a",))[0] == "c"
    assert name_of("hierarchy", ("a",))[0] == "h"
