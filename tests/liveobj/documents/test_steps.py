"""Two changes put together do what the one and then the other does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from liveobj.documents.steps import compose, cut, units_of
from liveobj.documents.text import TextStep, apply_steps, utf16_length

WORDS = ["a", "bc", "😀", "é\n", "漢😀x"]


@st.composite
def steps_over(draw: st.DrawFn, text: str) -> list[TextStep]:
    """Steps that are possible over a text, cut between characters only."""
    steps: list[TextStep] = []
    left = list(text)
    while left:
        count = draw(st.integers(1, len(left)))
        part, left = "".join(left[:count]), left[count:]
        match draw(st.integers(0, 3)):
            case 0:
                steps.append(TextStep(delete=utf16_length(part)))
            case 1:
                marks = {"bold": draw(st.sampled_from([True, None]))}
                steps.append(TextStep(retain=utf16_length(part), marks=marks))
            case _:
                steps.append(TextStep(retain=utf16_length(part)))
        if draw(st.booleans()):
            steps.append(TextStep(insert=draw(st.sampled_from(WORDS)), marks={"bold": True}))
    return steps


@given(st.data(), st.lists(st.sampled_from(WORDS), max_size=6))
def test_two_changes_as_one(data: st.DataObject, words: list[str]) -> None:
    text = "".join(words)
    first = data.draw(steps_over(text))
    middle = apply_steps(text, first)
    second = data.draw(steps_over(middle))
    together = compose(first, second)
    assert apply_steps(text, together) == apply_steps(middle, second)
    assert _marked(text, together) == _marked(middle, second, _marked(text, first))


def _marked(
    text: str, steps: list[TextStep], before: list[bool | None] | None = None
) -> list[bool | None]:
    """The mark of each unit after steps; an unmarked one is None."""
    marks = list(before if before is not None else [None] * utf16_length(text))
    result: list[bool | None] = []
    for step in steps:
        mark = (step.marks or {}).get("bold")
        kept, marks = marks[: step.retain], marks[step.retain + step.delete :]
        result += [mark for _ in kept] if step.marks else kept
        result += [mark] * utf16_length(step.insert)
    return result + marks


def test_a_step_is_cut_between_characters() -> None:
    first, rest = cut(TextStep(insert="a😀b"), 2)
    assert (first.insert, rest.insert) == ("a😀", "b")
    assert units_of(first) == 3
