"""Steps over a text put together: two changes as one, as if they had come at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from liveobj.documents.text import TextStep, utf16_length


class Steps:
    """A list of steps that grows at its end; what is alike becomes one step."""

    def __init__(self) -> None:
        self.steps: list[TextStep] = []

    def add(self, step: TextStep) -> None:
        last = self.steps[-1] if self.steps else None
        if last is not None and (last.marks or None) == (step.marks or None):
            if last.retain and step.retain:
                self.steps[-1] = TextStep(retain=last.retain + step.retain, marks=last.marks)
                return
            if last.insert and step.insert:
                self.steps[-1] = TextStep(insert=last.insert + step.insert, marks=last.marks)
                return
            if last.delete and step.delete:
                self.steps[-1] = TextStep(delete=last.delete + step.delete)
                return
        self.steps.append(step)

    def retain(self, units: int) -> None:
        if units:
            self.add(TextStep(retain=units))

    def extend(self, steps: Iterable[TextStep]) -> None:
        """The first may become one with the last; the others are taken as they are."""
        rest = iter(steps)
        for step in rest:
            self.add(step)
            break
        self.steps.extend(rest)


def units_of(step: TextStep) -> int:
    """How much of the text before or after a step is about, whichever has it."""
    return step.retain or step.delete or utf16_length(step.insert)


def cut(step: TextStep, units: int) -> tuple[TextStep, TextStep]:
    """A step as two, the first of so many units. Never cuts a character of two units: then the
    first is one longer."""
    if step.retain:
        return replace(step, retain=units), replace(step, retain=step.retain - units)
    if step.delete:
        return replace(step, delete=units), replace(step, delete=step.delete - units)
    count = at = 0
    if len(step.insert) == utf16_length(step.insert):
        count = units
    else:
        while at < units:
            at += utf16_length(step.insert[count])
            count += 1
    return replace(step, insert=step.insert[:count]), replace(step, insert=step.insert[count:])


def compose(first: Sequence[TextStep], second: Sequence[TextStep]) -> list[TextStep]:
    """The steps that do at once what `first` and then `second` do."""
    result = Steps()
    waiting = list(reversed(first))
    for step in second:
        if step.insert:
            result.add(step)
            continue
        left = step.retain or step.delete
        while left:
            while waiting and waiting[-1].delete:
                result.add(waiting.pop())
            if not waiting:
                result.add(cut(step, left)[0])
                break
            before = waiting.pop()
            size = units_of(before)
            if size > left:
                before, after = cut(before, left)
                waiting.append(after)
                size = units_of(before)
            left -= min(left, size)
            if step.retain:
                result.add(_marked(before, step))
            elif before.retain:
                result.add(TextStep(delete=size))
    if waiting:
        result.extend(reversed(waiting))
    return result.steps


def _marked(before: TextStep, step: TextStep) -> TextStep:
    """What `before` leaves, with the marks that `step` gives it."""
    if not step.marks:
        return before
    marks = {**(before.marks or {}), **step.marks}
    if before.insert:
        marks = {name: value for name, value in marks.items() if value is not None}
    return replace(before, marks=marks or None)
