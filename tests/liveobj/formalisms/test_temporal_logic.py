"""The decision procedure, against a plain evaluation of formulas on all short histories."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from liveobj.formalisms import temporal_logic as logic
from liveobj.formalisms.temporal_logic import FALSE, OTHER, TRUE, Formula

HISTORIES = [h for n in range(5) for h in product(("a", "b", OTHER), repeat=n)]

formulas: st.SearchStrategy[Formula] = st.recursive(
    st.sampled_from([TRUE, FALSE, logic.event("a"), logic.event("b")]),
    lambda inner: st.one_of(
        st.builds(logic.negate, inner),
        st.builds(logic.both, inner, inner),
        st.builds(logic.either, inner, inner),
        st.builds(logic.following, inner),
        st.builds(logic.until, inner, inner),
        st.builds(logic.unless, inner, inner),
        st.builds(logic.always, inner),
    ),
    max_leaves=5,
)


def holds(f: Formula, h: tuple[str, ...]) -> bool:
    """The meaning of formulas, written down as directly as possible."""
    match f.op:
        case "true":
            return True
        case "false":
            return False
        case "is":
            return bool(h) and h[0] == f.event
        case "is not":
            return not h or h[0] != f.event
        case "and":
            return all(holds(p, h) for p in f.parts)
        case "or":
            return any(holds(p, h) for p in f.parts)
        case "next":
            return bool(h) and holds(f.parts[0], h[1:])
        case "weak next":
            return not h or holds(f.parts[0], h[1:])
        case "until":
            first, then = f.parts
            return any(
                holds(then, h[i:]) and all(holds(first, h[j:]) for j in range(i))
                for i in range(len(h))
            )
    return not holds(logic.negate(f), h)  # release


@given(formulas, st.sampled_from(HISTORIES))
@settings(max_examples=500)
def test_walking_agrees_with_the_meaning(f: Formula, h: tuple[str, ...]) -> None:
    assert logic.satisfies(h, f) == holds(f, h)
    assert logic.satisfies(h, logic.negate(f)) != logic.satisfies(h, f)


@given(formulas, formulas)
@settings(max_examples=300)
def test_implication_agrees_with_all_short_histories(f: Formula, g: Formula) -> None:
    found = logic.counterexample(f, g)
    if found is None:
        assert all(holds(g, h) for h in HISTORIES if holds(f, h))
    else:
        assert holds(f, found)
        assert not holds(g, found)


def test_the_example_is_a_shortest_one() -> None:
    once = logic.always(
        logic.implication(
            logic.event("a"), logic.negate(logic.following(logic.eventually(logic.event("a"))))
        )
    )
    assert logic.counterexample(TRUE, once) == ("a", "a")
