"""One thing that can be done, as menus, shortcuts, palette and tests see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def always() -> str:
    """The `why_not` of an action that can always be done."""
    return ""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the program can do. `why_not` is the reason why it cannot now, or empty; `checked`
    tells, for an action that is a state, whether it is in force; `listed` whether the palette has
    it; `yields` that its shortcut gives way to the same one of the view in front."""

    identity: str
    title: str
    run: Callable[[], None]
    shortcut: str = ""
    why_not: Callable[[], str] = always
    checked: Callable[[], bool] | None = None
    listed: bool = True
    yields: bool = False
