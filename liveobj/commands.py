"""Owns what the commands new, inspect and check do: pure functions from paths to text and exit
code.

0 means yes or done, 1 that a reference is wrong, 2 that it could not be read or written. Nothing is
run and nobody is asked; whoever parses the command line is in the application.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TextIO

from liveobj.declare import DECLARATIONS, Declarations, ObjectDeclaration
from liveobj.objects import catalogue
from liveobj.references import (
    External,
    Parameterized,
    Reference,
    ReferenceProblem,
    Value,
    group_id_of,
    read_reference_file,
    write_reference_file,
)
from liveobj.references.checking import Checked, check
from liveobj.references.makers import is_forged, maker_of
from liveobj.references.writing import element_of
from liveobj.types import ObjectType
from transport.sentences import worded, worded_n

DONE, WRONG, UNREADABLE = 0, 1, 2


def new(
    kind: str,
    path: Path,
    title: str,
    random_bytes: Callable[[int], bytes],
    out: TextIO,
    err: TextIO,
    signed: Callable[[Reference], Reference],
) -> int:
    """Writes the reference of a new object of a kind in the catalogue, as `signed` gives it; never
    over a file."""
    maker = catalogue.MAKERS.get(kind)
    if maker is None:
        kinds = ", ".join(sorted(catalogue.MAKERS))
        sentence = worded(
            "'{kind}' is not a kind of object that can be made; those are {kinds}.",
            kind=kind,
            kinds=kinds,
        )
        err.write(f"{sentence}\n")
        return UNREADABLE
    if path.exists():
        err.write(worded("{path} exists already. Choose another name.", path=path) + "\n")
        return UNREADABLE
    try:
        write_reference_file(signed(maker(title or path.stem, random_bytes)), path)
    except ReferenceProblem as problem:
        err.write(f"{problem}\n")
        return UNREADABLE
    out.write(f"{path}\n")
    return DONE


def check_files(
    paths: Iterable[Path], out: TextIO, err: TextIO, declarations: Declarations = DECLARATIONS
) -> int:
    """Says of each file whether it is in order, and if not, everything that is wrong."""
    worst = DONE
    for path in paths:
        try:
            checked = check(read_reference_file(path), declarations)
        except ReferenceProblem as problem:
            err.write(f"{problem}\n")
            worst = max(worst, UNREADABLE)
            continue
        problems = checked.problems
        for problem_found in problems:
            err.write(f"{path}, {problem_found}\n")
        worst = max(worst, WRONG if problems else DONE)
        if not problems:
            out.write(worded("{path}: in order.", path=path) + "\n")
    return worst


def inspect_files(
    paths: Iterable[Path], out: TextIO, err: TextIO, declarations: Declarations = DECLARATIONS
) -> int:
    """Shows each file as a tree: what it is made of, its types, what it would join and run."""
    worst = DONE
    for path in paths:
        try:
            checked = check(read_reference_file(path), declarations)
        except ReferenceProblem as problem:
            err.write(f"{problem}\n")
            worst = max(worst, UNREADABLE)
            continue
        out.write(f"{path}\n")
        for line in describe(checked):
            out.write(f"  {line}\n")
        worst = max(worst, WRONG if checked.problems else DONE)
    return worst


def describe(checked: Checked) -> list[str]:
    """What `inspect` shows of one reference."""
    problems = checked.problems
    verdict = worded("it cannot be run:") if problems else worded("it can be run here.")
    facts = {
        worded("identity"): str(checked.fingerprint),
        worded("joins"): worded("group {group}", group=_group(checked)),
        worded("signed by"): _maker(checked.reference),
        worded("rights"): _rights(checked),
        worded("verdict"): verdict,
    }
    *told, last = _in_columns(facts)
    lines = [*told, worded("made of")]
    for depth, part in checked.walk():
        lines.append("  " * (depth + 1) + f"{part.role}: {_summary(part)}")
        lines += ["  " * (depth + 3) + detail for detail in _details(part)]
    if checked.type is not None:
        lines.append(worded("type"))
        lines += [f"  {line}" for line in describe_type(checked.type)]
    lines.append(last)
    lines += [f"  {problem}" for problem in problems]
    return lines


def _in_columns(facts: Mapping[str, str]) -> list[str]:
    """A line for each that there is something to say of."""
    width = max(len(name) for name in facts)
    return [f"{name:<{width}} {text}" for name, text in facts.items() if text]


def _maker(reference: Reference) -> str:
    maker = maker_of(reference)
    if maker is not None:
        return f"{maker.name}, {maker.fingerprint}"
    return worded("somebody else than it says") if is_forged(reference) else worded("nobody")


def _group(checked: Checked) -> str:
    return group_id_of(checked.fingerprint).hex()


def _rights(checked: Checked) -> str:
    keys = checked.reference.secrets.keys
    if "group" not in keys:
        return ""
    return worded("can edit") if "signing" in keys else worded("can view")


def _summary(part: Checked) -> str:
    reference = part.reference
    if isinstance(reference, External):
        return worded("external '{name}', asked for when it is opened", name=reference.name)
    kind = element_of(reference, secrets=False).name
    known = part.declaration
    return f"{kind} {_named(known)}" if known is not None else kind


def _named(declaration: ObjectDeclaration) -> str:
    return worded(
        "'{title}' ({id}), runs {module}",
        title=declaration.title,
        id=declaration.id,
        module=declaration.cls.__module__,
    )


def _details(part: Checked) -> list[str]:
    if not isinstance(part.reference, Parameterized):
        return []
    return [
        f"{name} = {_shown(argument)}"
        for name, argument in sorted(part.reference.arguments.items())
        if isinstance(argument, Value)
    ]


def _shown(value: Value) -> str:
    if isinstance(value.data, bytes):
        return worded_n("{count} byte", "{count} bytes", len(value.data))
    return f"{value.data!r:.70}"


def describe_type(type_: ObjectType) -> list[str]:
    """Endpoints, events and constraints, a line each."""
    receives, sends = worded("receives"), worded("sends")
    promises, requires = worded("promises"), worded("requires")
    width = max(len(word) for word in (receives, sends, promises, requires))
    lines: list[str] = []
    for name, endpoint in type_.endpoints.items():
        lines.append(worded("endpoint '{name}'", name=name))
        told = [(receives, f"{event}{value}") for event, value in endpoint.incoming.items()]
        told += [(sends, f"{event}{value}") for event, value in endpoint.outgoing.items()]
        told += [(promises, c.text) for c in endpoint.provided.values()]
        told += [(requires, c.text) for c in endpoint.required.values()]
        lines += [f"  {word:<{width}} {text}" for word, text in told]
    whole = [(promises, c.text) for c in type_.provided.values()]
    whole += [(requires, c.text) for c in type_.required.values()]
    lines += [f"{word:<{width}} {text}" for word, text in whole]
    return lines
