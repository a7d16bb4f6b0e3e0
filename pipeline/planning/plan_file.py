"""The plan as the membership service loads it (native/src/membership/policy_plan.c), as text.

    live-objects-plan 1
    # a comment
    group 00112233445566778899aabbccddeeff cluster c-1a2b3c4d
    group ffeeddccbbaa99887766554433221100 hierarchy h-5e6f7a8b

What is written here is checked by the same rules that the service has, so that no plan leaves this
place which it would refuse.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.errors import PipelineProblem

FIRST_LINE = "live-objects-plan 1"
GROUPS_MAX = 1 << 16
BYTES_MAX = 16 << 20
LINE_BYTES_MAX = 160

Kind = Literal["cluster", "hierarchy"]

_ENTRY = re.compile(r"group ([0-9a-fA-F]{32}) (cluster|hierarchy) ([A-Za-z0-9._-]{1,64})")


@dataclass(frozen=True, slots=True)
class PlannedSet:
    """Groups, by their ids, that are one cluster or one hierarchy."""

    kind: Kind
    name: str
    groups: tuple[str, ...]


def name_of(kind: Kind, groups: tuple[str, ...]) -> str:
    """A name for a set that has none yet."""
    digest = hashlib.blake2b(min(groups).encode(), digest_size=6).hexdigest()
    return f"{kind[0]}-{digest}"


def plan_text(sets: list[PlannedSet], comments: tuple[str, ...] = ()) -> str:
    """The plan; PipelineProblem when it would be beyond what the service takes."""
    lines = [FIRST_LINE, *(f"# {comment}"[:LINE_BYTES_MAX] for comment in comments)]
    lines += [
        f"group {group} {planned.kind} {planned.name}"
        for planned in sets
        for group in planned.groups
    ]
    text = "\n".join(lines) + "\n"
    parse_plan(text)
    return text


def parse_plan(text: str, where: str = "The plan") -> list[PlannedSet]:
    """The sets of a plan, in their order; PipelineProblem names the line that is wrong."""
    if len(text.encode("utf-8", "surrogatepass")) > BYTES_MAX:
        raise PipelineProblem(f"{where} is larger than {BYTES_MAX >> 20} MB.")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[0] != FIRST_LINE:
        raise PipelineProblem(f"{where} is not a plan: its first line is not {FIRST_LINE!r}.")
    sets: dict[tuple[str, str], list[str]] = {}
    known: set[str] = set()
    for number, line in enumerate(lines[1:], 2):
        if len(line) > LINE_BYTES_MAX or any(not " " <= letter <= "~" for letter in line):
            raise PipelineProblem(f"{where} is malformed in line {number}.")
        if not line or line.startswith("#"):
            continue
        match = _ENTRY.fullmatch(line)
        if match is None:
            raise PipelineProblem(f"{where} is malformed in line {number}.")
        group = match[1].lower()
        if group in known:
            raise PipelineProblem(f"{where} names a group again in line {number}.")
        known.add(group)
        sets.setdefault((match[2], match[3]), []).append(group)
    if len(known) > GROUPS_MAX:
        raise PipelineProblem(f"{where} names more than {GROUPS_MAX} groups.")
    return [
        PlannedSet("cluster" if kind == "cluster" else "hierarchy", name, tuple(groups))
        for (kind, name), groups in sets.items()
    ]


def read_plan(path: Path) -> list[PlannedSet]:
    try:
        if path.stat().st_size > BYTES_MAX:
            raise PipelineProblem(f"{path} is larger than any plan.")
        text = path.read_bytes().decode("ascii", "replace")
    except OSError as problem:
        raise PipelineProblem(f"{path} cannot be read: {problem.strerror}.") from None
    return parse_plan(text, str(path))
