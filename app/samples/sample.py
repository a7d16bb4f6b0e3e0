"""A sample of one kind of object: its title, and what two people do in it, in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from liveobj.references import Reference
from widgets.object_view import ObjectView, Surroundings

Step = Callable[[ObjectView], None]
Shown = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """`steps` are done by the first and the second person in turn; each sees what the other has
    done before. `is_whole` reads what a view describes: True once all of it is shown. What is drawn
    later is there `still_s` seconds after the last step."""

    title: str
    steps: tuple[Step, ...]
    is_whole: Callable[[Shown], bool]
    still_s: float = 0.4


def make_filled(
    around: Surroundings, word: str, title: str, fill: Callable[[Any], None]
) -> Reference:
    """A new object of the kind of that word, filled and closed again; `fill` is given what is
    shared in it. Raises a Problem."""
    reference = around.make(around.kinds[word], title)
    opening = around.open(reference)
    try:
        fill(opening.shared)
        opening.shared.flush()
    finally:
        opening.close()
    return reference
