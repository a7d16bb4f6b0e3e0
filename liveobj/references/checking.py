"""Owns the static type check of references: the type of each part, and every way in which it is
wrong.

Nothing is run and nobody is asked. What an external object really is can only be told when it has
arrived, and is checked again then; here its 'as' clause is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from liveobj.declare import Declarations, ObjectDeclaration, reflect_object
from liveobj.objects.standard_types import FolderType
from liveobj.references.identity import Fingerprint, fingerprint
from liveobj.references.model import (
    Argument,
    Composite,
    External,
    ObjectTypeArgument,
    Parameterized,
    Port,
    Primitive,
    Reference,
    Value,
    ValueTypeArgument,
    parts_of,
)
from liveobj.references.type_expressions import NamedType, SpelledType, TypeExpression
from liveobj.types import (
    ANY,
    BOOLEAN,
    BYTES,
    INTEGER,
    NUMBER,
    TEXT,
    EndpointType,
    Named,
    ObjectType,
    ReferenceType,
    ValueType,
    is_object_subtype,
    matches,
)
from liveobj.types.templates import BadArgument, TypeArgument


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, in a sentence."""

    sentence: str
    line: int = 0

    def __str__(self) -> str:
        return f"line {self.line}: {self.sentence}" if self.line else self.sentence


@dataclass(frozen=True, slots=True)
class Checked:
    """A reference with its type (None if it cannot be told), its own problems, and its parts."""

    reference: Reference
    role: str
    type: ObjectType | None
    own_problems: tuple[Problem, ...]
    parts: tuple[Checked, ...] = field(default=())
    declaration: ObjectDeclaration | None = None

    @property
    def problems(self) -> list[Problem]:
        """All of them, those of parts first."""
        inner = [problem for part in self.parts for problem in part.problems]
        return inner + list(self.own_problems)

    @property
    def fingerprint(self) -> Fingerprint:
        return fingerprint(self.reference)

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Checked]]:
        yield depth, self
        for part in self.parts:
            yield from part.walk(depth + 1)


def check(reference: Reference, declarations: Declarations) -> Checked:
    """The type of `reference`, and everything that is wrong with it."""
    return _Checker(declarations).check(reference, "object")


class _Checker:
    def __init__(self, declarations: Declarations) -> None:
        self._declarations = declarations

    def check(self, reference: Reference, role: str, *, as_template: bool = False) -> Checked:
        parts = tuple(
            self.check(part, part_role, as_template=part_role == "template")
            for part_role, part in parts_of(reference)
        )
        by_role = {part.role: part for part in parts}
        problems: list[Problem] = []
        declaration: ObjectDeclaration | None = None
        match reference:
            case Primitive():
                type_, declaration = self._primitive(reference, problems, as_template)
            case Parameterized():
                declaration = by_role["template"].declaration
                type_ = self._parameterized(reference, by_role, problems)
            case External():
                type_ = self._external(reference, by_role["from"], problems)
            case Composite():
                type_ = self._composite(reference, by_role, problems)
            case _:
                raise TypeError(f"{type(reference).__name__} is not a kind of reference")
        if reference.as_type is not None and not isinstance(reference, External):
            type_ = self._cast(type_, reference.as_type, problems)
        return Checked(reference, role, type_, tuple(problems), parts, declaration)

    def _primitive(
        self, reference: Primitive, problems: list[Problem], as_template: bool
    ) -> tuple[ObjectType | None, ObjectDeclaration | None]:
        declaration = self._declarations.find(reference.id)
        if declaration is None or not declaration.runnable:
            problems.append(
                Problem(
                    f"The object '{reference.id}' is not known here; update Live Objects, or "
                    "install what it belongs to.",
                    reference.line,
                )
            )
            return None, None
        if as_template:
            return declaration.type, declaration
        missing = declaration.template.problems({})
        problems += [Problem(sentence, reference.line) for sentence in missing]
        return declaration.type, declaration

    def _parameterized(
        self, reference: Parameterized, parts: Mapping[str, Checked], problems: list[Problem]
    ) -> ObjectType | None:
        template = parts["template"]
        if template.declaration is None:
            return template.type  # an external template, or a problem that was told already
        arguments: dict[str, TypeArgument] = {}
        for name, argument in reference.arguments.items():
            found = self._argument_type(name, argument, parts, problems)
            if found is not None:
                arguments[name] = found
        try:
            return template.declaration.template.apply(arguments)
        except BadArgument as wrong:
            problems += [Problem(sentence, reference.line) for sentence in wrong.sentences]
            return None

    def _argument_type(
        self, name: str, argument: Argument, parts: Mapping[str, Checked], problems: list[Problem]
    ) -> TypeArgument | None:
        match argument:
            case Value(data=data):
                return _VALUE_TYPES[type(data)]
            case ValueTypeArgument(type=value_type):
                return value_type
            case ObjectTypeArgument(type=expression):
                return self.resolve(expression, problems)
        return ReferenceType(parts[f"parameter '{name}'"].type)

    def _external(
        self, reference: External, folder: Checked, problems: list[Problem]
    ) -> ObjectType | None:
        if folder.type is not None:
            verdict = is_object_subtype(folder.type, reflect_object(FolderType).type)
            words = verdict.sentences(f"What '{reference.name}' is asked from", "a folder")
            problems += [Problem(sentence, reference.line) for sentence in words]
        assert reference.as_type is not None, "checked when the reference was made"
        return self.resolve(reference.as_type, problems)

    def _cast(
        self, type_: ObjectType | None, expression: TypeExpression, problems: list[Problem]
    ) -> ObjectType | None:
        wanted = self.resolve(expression, problems)
        if type_ is None or wanted is None:
            return wanted
        verdict = is_object_subtype(type_, wanted)
        words = verdict.sentences("the object", "the type that it is cast to")
        problems += [Problem(sentence, expression.line) for sentence in words]
        return wanted

    def resolve(self, expression: TypeExpression, problems: list[Problem]) -> ObjectType | None:
        """The type that an expression stands for."""
        if isinstance(expression, SpelledType):
            return expression.type
        declaration = self._declarations.find(expression.id)
        if declaration is None:
            problems.append(
                Problem(f"The type '{expression.id}' is not known here.", expression.line)
            )
            return None
        arguments: dict[str, TypeArgument] = {}
        for name, argument in expression.arguments.items():
            if isinstance(argument, ValueType):
                arguments[name] = argument
            elif isinstance(argument, NamedType | SpelledType):
                inner = self.resolve(argument, problems)
                arguments[name] = ReferenceType(inner) if inner is not None else ANY
        try:
            return declaration.template.apply(arguments)
        except BadArgument as wrong:
            problems += [Problem(sentence, expression.line) for sentence in wrong.sentences]
            return None

    # Composites

    def _composite(
        self, reference: Composite, parts: Mapping[str, Checked], problems: list[Problem]
    ) -> ObjectType:
        types = {name: parts[f"component '{name}'"].type for name in reference.components}
        used: dict[Port, str] = {}
        for connection in reference.connections:
            ends = (connection.first, connection.second)
            found = [_endpoint(types, port, connection.line, problems) for port in ends]
            for port in ends:
                _use_once(used, port, "connected", connection.line, problems)
            if found[0] is not None and found[1] is not None:
                verdict = matches(found[0], found[1])
                words = verdict.sentences(str(ends[0]), str(ends[1]))
                problems += [Problem(sentence, connection.line) for sentence in words]
        exported: dict[str, EndpointType] = {}
        for export in reference.exports:
            _use_once(used, export.port, "exported", export.line, problems)
            endpoint = _endpoint(types, export.port, export.line, problems)
            if endpoint is not None:
                exported[export.name] = endpoint
        return ObjectType(Named(exported))


def _endpoint(
    types: Mapping[str, ObjectType | None], port: Port, line: int, problems: list[Problem]
) -> EndpointType | None:
    if port.component not in types:
        problems.append(Problem(f"There is no component '{port.component}'.", line))
        return None
    type_ = types[port.component]
    if type_ is None:
        return None  # why it has no type was told already
    endpoint = type_.endpoints.get(port.endpoint)
    if endpoint is None:
        known = ", ".join(f"'{name}'" for name in type_.endpoints) or "none"
        problems.append(
            Problem(f"'{port.component}' has no endpoint '{port.endpoint}'; it has {known}.", line)
        )
    return endpoint


def _use_once(
    used: dict[Port, str], port: Port, how: str, line: int, problems: list[Problem]
) -> None:
    """An endpoint is connected to one other, or exported: never two of these (thesis 2.1.4 C)."""
    if port in used:
        problems.append(
            Problem(f"The {port} is {used[port]} already and cannot be {how}, too.", line)
        )
    else:
        used[port] = how


_VALUE_TYPES: dict[type, ValueType] = {
    bool: BOOLEAN,
    int: INTEGER,
    float: NUMBER,
    str: TEXT,
    bytes: BYTES,
}
