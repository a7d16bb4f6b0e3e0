"""Owns converters between types of values, and connections in which events are converted on the
way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from liveobj.declare.wrappers import PlainEvent
from liveobj.runtime.connections import Connection, connect
from liveobj.runtime.endpoints import ExternalEndpoint, InternalEndpoint
from liveobj.runtime.errors import CannotConnect
from liveobj.types import (
    INTEGER,
    NUMBER,
    TEXT,
    EndpointType,
    Named,
    RecordType,
    ValueType,
    matches,
)
from liveobj.types.objects import dual
from liveobj.types.values import is_value_subtype

Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class ValueConverter:
    """From one type of values to another; `title` says what it does, and what may be lost."""

    source: ValueType
    target: ValueType
    convert: Convert
    title: str


class ValueConverters:
    """Those that are known. Never applied by themselves: somebody has to ask."""

    def __init__(self) -> None:
        self._converters: list[ValueConverter] = []

    def register(self, converter: ValueConverter) -> None:
        self._converters.append(converter)

    def find(self, given: ValueType, wanted: ValueType) -> Convert | None:
        """A way from `given` to `wanted`: directly, or part by part through a record."""
        if is_value_subtype(given, wanted):
            return _same
        for converter in self._converters:
            if is_value_subtype(given, converter.source) and is_value_subtype(
                converter.target, wanted
            ):
                return converter.convert
        if isinstance(given, RecordType) and isinstance(wanted, RecordType):
            return self._find_record(given, wanted)
        return None

    def _find_record(self, given: RecordType, wanted: RecordType) -> Convert | None:
        parts: dict[str, Convert] = {}
        for name, field in wanted.fields.items():
            have = given.fields.get(name)
            if have is None or (field.required and not have.required):
                return None
            part = self.find(have.type, field.type)
            if part is None:
                return None
            parts[name] = part
        return lambda record: {n: part(record[n]) for n, part in parts.items() if n in record}

    def plan(self, given: EndpointType, wanted: EndpointType) -> Mapping[str, Convert] | None:
        """For each event that `given` sends, how `wanted` can receive it; None if one cannot."""
        plan: dict[str, Convert] = {}
        for name, event in given.outgoing.items():
            target = wanted.incoming.get(name)
            convert = None if target is None else self.find(event, target)
            if convert is None:
                return None
            plan[name] = convert
        return plan


def _same(value: Any) -> Any:
    return value


VALUE_CONVERTERS = ValueConverters()
VALUE_CONVERTERS.register(ValueConverter(INTEGER, TEXT, str, "Numbers become text"))
VALUE_CONVERTERS.register(ValueConverter(NUMBER, TEXT, repr, "Numbers become text"))
VALUE_CONVERTERS.register(
    ValueConverter(NUMBER, INTEGER, round, "Numbers are rounded to whole ones")
)


class _Relay:
    """Stands in the middle: an endpoint for each side, and the conversion between them."""

    def __init__(self, first: ExternalEndpoint, second: ExternalEndpoint) -> None:
        self.name = f"the conversion between {first} and {second}"
        self._sides = (
            InternalEndpoint(self, "first", _facing(first.type), self._from_first),
            InternalEndpoint(self, "second", _facing(second.type), self._from_second),
        )
        self._plans: tuple[Mapping[str, Convert], Mapping[str, Convert]] = ({}, {})

    def join(
        self,
        first: ExternalEndpoint,
        second: ExternalEndpoint,
        plans: tuple[Mapping[str, Convert], Mapping[str, Convert]],
    ) -> Connection:
        self._plans = plans
        one = connect(first, self._sides[0].external)
        two = connect(self._sides[1].external, second)
        one.on_disconnect(lambda _: two.dispose())
        two.on_disconnect(lambda _: one.dispose())
        return one

    def enqueue(self, task: Callable[[], None]) -> None:
        task()  # the receiver has a queue of its own

    def _from_first(self, event: str, record: PlainEvent) -> None:
        self._sides[1].send(event, self._plans[0][event](record))

    def _from_second(self, event: str, record: PlainEvent) -> None:
        self._sides[0].send(event, self._plans[1][event](record))


def _facing(type_: EndpointType) -> EndpointType:
    """The other end of `type_`; its promises are those of whoever is behind, passed on."""
    return dual(type_)


def connect_converting(
    first: ExternalEndpoint,
    second: ExternalEndpoint,
    converters: ValueConverters = VALUE_CONVERTERS,
) -> Connection:
    """Joins two endpoints whose events differ only in types that can be converted. What they
    promise and require of each other must fit as it is: no conversion of values makes up for
    that."""
    plans = (converters.plan(first.type, second.type), converters.plan(second.type, first.type))
    if plans[0] is None or plans[1] is None:
        words = matches(first.type, second.type).sentences(str(first), str(second))
        raise CannotConnect("No conversion is known. " + " ".join(words))
    constraints = matches(_bare(first.type), _bare(second.type))
    if not constraints:
        raise CannotConnect(" ".join(constraints.sentences(str(first), str(second))))
    return _Relay(first, second).join(first, second, (plans[0], plans[1]))


def _bare(type_: EndpointType) -> EndpointType:
    return EndpointType(Named(), Named(), type_.provided, type_.required)
