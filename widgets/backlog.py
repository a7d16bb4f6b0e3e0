"""What a view has still to show of its text: edits that have arrived, and wait for their frame.

The view may be behind in one place and up to date in another. So a place in the view and the same
place in the text have different numbers, and one's own edits in the view must be told of in those
of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from liveobj.documents.steps import compose, cut
from liveobj.documents.text import TextStep, utf16_length

_STEPS_PER_STRETCH = 64
# What is longer is shown in pieces: to insert or to mark so much takes a part of a frame, to remove
# takes less.
PIECE_UNITS = 4000
_REMOVED_UNITS = 10 * PIECE_UNITS


class Stretch:
    """A part of the view from which the next one begins, with the steps inside it.

    Attributes: `steps` (none: it is as in the text), `view_units`, `text_units`, `waiting` (how
    many units are to be changed)."""

    __slots__ = ("steps", "text_units", "view_units", "waiting")

    def __init__(self, steps: list[TextStep]) -> None:
        self.keep(steps)

    def keep(self, steps: list[TextStep]) -> None:
        """These are its steps from now on."""
        kept = sum(step.retain for step in steps)
        removed = sum(step.delete for step in steps)
        added = sum(utf16_length(step.insert) for step in steps)
        marked = sum(step.retain for step in steps if step.marks)
        self.view_units, self.text_units = kept + removed, kept + added
        self.waiting = removed + added + marked
        self.steps = steps if any(not is_plain(step) for step in steps) else []

    def all_steps(self) -> list[TextStep]:
        if self.steps or not self.view_units:
            return self.steps
        return [TextStep(retain=self.view_units)]


class Backlog:
    """Attributes: `stretches`, in order; what comes after them is as in the text. They make it
    cheap to change a little where much waits."""

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []

    def __bool__(self) -> bool:
        return bool(self.stretches)

    @property
    def waiting(self) -> int:
        """How many units are to be changed."""
        return sum(stretch.waiting for stretch in self.stretches)

    def steps(self) -> tuple[TextStep, ...]:
        """All that leads from what the view shows to the text."""
        return tuple(step for stretch in self.stretches for step in stretch.all_steps())

    def add(self, steps: Sequence[TextStep]) -> None:
        """The text has changed once more."""
        stretches: list[Stretch] = []
        cuts = _Cuts(steps)
        for stretch in self.stretches:
            part = cuts.take(stretch.text_units)
            if part:
                stretches += _stretches(compose(stretch.all_steps(), part))
            else:
                stretches.append(stretch)
        self.stretches = stretches + _stretches(cuts.rest())
        self.tidy()

    def tidy(self) -> None:
        """Forgets what has been done; to be called after stretches have been changed."""
        tidy: list[Stretch] = []
        for stretch in self.stretches:
            if tidy and not stretch.steps and not tidy[-1].steps:
                tidy[-1].view_units += stretch.view_units
                tidy[-1].text_units += stretch.text_units
            elif stretch.view_units or stretch.text_units:
                tidy.append(stretch)
        if tidy and not tidy[-1].steps:
            tidy.pop()
        self.stretches = tidy

    def clear(self) -> None:
        self.stretches = []

    def to_text(self, position: int) -> int:
        view = text = 0
        for stretch in self.stretches:
            # At its end there may be an insert of this one, and one of the next: all come after.
            if position <= view + stretch.view_units:
                inside = position - view
                return text + (moved(inside, stretch.steps, stay=True) if stretch.steps else inside)
            view += stretch.view_units
            text += stretch.text_units
        return text + position - view

    def to_view(self, position: int) -> int:
        """Where a place in the text is in the view; one in what is not shown yet is where it will
        be."""
        view = text = 0
        for stretch in self.stretches:
            if position <= text + stretch.text_units:
                break
            view += stretch.view_units
            text += stretch.text_units
        else:
            return view + position - text
        for step in stretch.steps:
            shown, real = step.retain, step.retain or utf16_length(step.insert)
            if position - text <= (shown or real - 1):
                return view + min(position - text, shown)
            text += real
            view += shown + step.delete
        return view + position - text

    def take_edit(self, start: int, removed: int, added: int) -> int | None:
        """One's own edit of the view, where nothing waits: says where it is in the text, and goes
        on from the view as it is now. None, and no change, if something waits just there."""
        view = text = 0
        for stretch in self.stretches:
            if start + removed <= view + stretch.view_units:
                at = _take_edit(stretch, start - view, removed, added)
                self.tidy()
                return None if at is None else text + at
            if start < view + stretch.view_units:
                return None
            view += stretch.view_units
            text += stretch.text_units
        return text + start - view

    def waits_between(self, start: int, end: int) -> bool:
        """Whether anything is to be changed between two places of the view."""
        view = 0
        for stretch in self.stretches:
            if view > end:
                break
            at = view
            for step in stretch.steps if view + stretch.view_units >= start else ():
                size = step.retain + step.delete
                if not is_plain(step) and at <= end and at + size >= start:
                    return True
                at += size
            view += stretch.view_units
        return False


class _Cuts:
    """Steps cut into parts by how much of the text before them each is about."""

    def __init__(self, steps: Sequence[TextStep]) -> None:
        self._left = list(reversed(steps))

    def take(self, units: int) -> list[TextStep]:
        """The steps about the next units; none, if they leave these as they are."""
        part: list[TextStep] = []
        while self._left and (units or self._left[-1].insert):
            step = self._left.pop()
            size = step.retain + step.delete
            if size > units:
                step, after = cut(step, units)
                self._left.append(after)
                size = units
            units -= size
            part.append(step)
        return part if any(not is_plain(step) for step in part) else []

    def rest(self) -> list[TextStep]:
        return self._left[::-1]


def is_plain(step: TextStep) -> bool:
    """Whether it leaves everything as it is."""
    return bool(step.retain) and not step.marks


def is_long(step: TextStep) -> bool:
    """Whether it may take longer than a frame has."""
    marked = step.retain if step.marks else 0
    return max(len(step.insert), marked) > PIECE_UNITS or step.delete > _REMOVED_UNITS


def in_pieces(steps: Iterable[TextStep]) -> Iterator[TextStep]:
    """The same steps, none of them long; each text is copied once, however long it is."""
    for step in steps:
        if not is_long(step):
            yield step
        elif step.insert:
            for at in range(0, len(step.insert), PIECE_UNITS):
                yield replace(step, insert=step.insert[at : at + PIECE_UNITS])
        else:
            most = _REMOVED_UNITS if step.delete else PIECE_UNITS
            for at in range(0, step.delete or step.retain, most):
                units = min(most, (step.delete or step.retain) - at)
                yield replace(step, delete=units) if step.delete else replace(step, retain=units)


def _stretches(steps: list[TextStep]) -> list[Stretch]:
    steps = list(in_pieces(steps))
    return [
        Stretch(steps[at : at + _STEPS_PER_STRETCH])
        for at in range(0, len(steps), _STEPS_PER_STRETCH)
    ]


def _take_edit(stretch: Stretch, start: int, removed: int, added: int) -> int | None:
    """Where in the text of a stretch an edit of its view is, and the stretch after it."""
    steps = stretch.all_steps()
    view = text = 0
    for number, step in enumerate(steps):
        here = view == start and not removed
        if here or (is_plain(step) and start + removed <= view + step.retain):
            if here:
                new = [TextStep(retain=added)]
            else:
                rest = step.retain + added - removed
                new = [TextStep(retain=rest)] if rest else []
            stretch.keep([*steps[:number], *new, *steps[number + (not here) :]])
            return text + start - view
        view += step.retain + step.delete
        text += step.retain + utf16_length(step.insert)
        if view > start:
            return None
    if removed:
        return None
    stretch.keep([*steps, TextStep(retain=added)])
    return text + start - view


def moved(position: int, steps: Sequence[TextStep], *, stay: bool) -> int:
    """Where a position is after `steps`; with `stay`, text inserted right there comes after it."""
    old = new = 0
    for step in steps:
        if step.retain:
            if position < old + step.retain:
                break
            old += step.retain
            new += step.retain
        elif step.delete:
            old += step.delete
            position = max(position, old)
        elif step.insert:
            if stay and position == old:
                break
            new += utf16_length(step.insert)
    return new + max(0, position - old)
