"""Owns what a person is told about a reference before it runs: plain data from the static check.

Nothing is run and nobody is asked; see `checking.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from liveobj.declare import Declarations
from liveobj.references.checking import Checked, check
from liveobj.references.identity import fingerprint, group_id_of
from liveobj.references.makers import Maker, is_forged, maker_of
from liveobj.references.model import External, Parameterized, Primitive, Reference, Value

TITLE_CHARACTERS_MAX = 200
_OWN_PREFIX = "live-objects:"


@dataclass(frozen=True, slots=True)
class Part:
    """A reference inside the reference; `depth` is 0 for the whole."""

    depth: int
    role: str
    what: str


@dataclass(frozen=True, slots=True)
class Summary:
    """`maker` is who has signed it, None where nobody has; `forged` if somebody is named who has
    not; `groups` are those that this computer would join; `code` names what would run that does not
    come with this program; `unknown` is what this program does not have at all."""

    title: str
    maker: Maker | None
    forged: bool
    can_edit: bool
    parts: tuple[Part, ...]
    groups: tuple[str, ...]
    code: tuple[str, ...]
    unknown: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def can_run(self) -> bool:
        return not self.problems


def summarize(reference: Reference, declarations: Declarations) -> Summary:
    """What can be told about it without running it."""
    checked = check(reference, declarations)
    walked = [part for _, part in checked.walk()]
    return Summary(
        title=title_of(reference),
        maker=maker_of(reference),
        forged=is_forged(reference),
        can_edit="signing" in reference.secrets.keys,
        parts=tuple(Part(depth, part.role, _what(part)) for depth, part in checked.walk()),
        groups=tuple(_groups(walked)),
        code=tuple(dict.fromkeys(_code(walked))),
        unknown=tuple(dict.fromkeys(_unknown(walked))),
        problems=tuple(str(problem) for problem in checked.problems),
    )


def title_of(reference: Reference) -> str:
    """The title that its maker gave it, or the name that it is asked for by; may be empty."""
    if isinstance(reference, External):
        return reference.name[:TITLE_CHARACTERS_MAX]
    if isinstance(reference, Parameterized):
        title = reference.arguments.get("title")
        if isinstance(title, Value) and isinstance(title.data, str):
            return title.data.strip()[:TITLE_CHARACTERS_MAX]
    return ""


def _what(part: Checked) -> str:
    reference = part.reference
    if isinstance(reference, External):
        return f"“{reference.name}”"
    title = title_of(reference)
    kind = part.declaration.title if part.declaration is not None else ""
    if not kind:
        kind = reference.id if isinstance(reference, Primitive) else type(reference).__name__
    return f"{kind} “{title}”" if title else kind


def _groups(parts: list[Checked]) -> Iterator[str]:
    for part in parts:
        if "group" in part.reference.secrets.keys:
            yield group_id_of(fingerprint(part.reference)).hex()


def _code(parts: list[Checked]) -> Iterator[str]:
    """Standard objects come with the program and are not named."""
    for part in parts:
        known = part.declaration
        if known is not None and not known.id.startswith(_OWN_PREFIX):
            yield f"{known.title} ({known.id})"


def _unknown(parts: list[Checked]) -> Iterator[str]:
    for part in parts:
        reference = part.reference
        if isinstance(reference, Primitive) and part.declaration is None:
            yield reference.id
