"""The events of the engine and the classes that stand for them are the same set."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from native import ffi
from transport import binding, binding_events
from transport.errors import Evicted
from transport.events import EVENT_CLASSES, EventType, Health, HealthChanged, Reason


@pytest.mark.parametrize(
    ("python", "c", "prefix"),
    [
        (EventType, "qsm_event_type", "QSM_EVENT_"),
        (Health, "qsm_health", "QSM_HEALTH_"),
        (Reason, "qsm_reason", "QSM_REASON_"),
    ],
)
def test_enumeration_equals_the_one_in_the_header(
    python: type[EventType | Health | Reason], c: str, prefix: str
) -> None:
    ours = {prefix + member.name: member.value for member in python}
    assert ours == binding.enumeration(c)


def test_every_event_of_the_engine_has_a_class() -> None:
    assert set(EVENT_CLASSES) == set(EventType)
    assert set(map(int, EVENT_CLASSES)) == set(binding.enumeration("qsm_event_type").values())
    assert len(set(EVENT_CLASSES.values())) == len(EVENT_CLASSES)


@pytest.mark.parametrize("kind", [kind for kind in EVENT_CLASSES if kind != EventType.DELIVERY])
def test_event_is_frozen(kind: EventType) -> None:
    event_class: Any = EVENT_CLASSES[kind]
    names = [field.name for field in fields(event_class)]
    event = event_class(*names)
    with pytest.raises(FrozenInstanceError):
        setattr(event, names[0], None)


def test_fields_are_read_in_the_order_and_size_of_the_c_structure() -> None:
    names = [name for name, _ in ffi.typeof("qsm_event").fields]
    event: binding.CData = ffi.new("qsm_event *")
    for value, name in enumerate(names, 1):
        field = getattr(event, name)
        setattr(event, name, value if isinstance(field, int) else ffi.cast("void *", value))
    assert binding_events.read_rows(event, 1) == [tuple(range(1, len(names) + 1))]


def events_of(*changes: dict[str, int]) -> binding_events.Events:
    events: binding.CData = ffi.new("qsm_event[]", len(changes))
    for index, change in enumerate(changes):
        event = events[index]
        event.type = EventType.DELIVERY
        for name, value in change.items():
            kind = ffi.typeof(getattr(event, name)) if name in {"data", "user"} else None
            setattr(event, name, value if kind is None else ffi.cast(kind, value))
    return binding_events.Events(events, len(changes))


def test_deliveries_of_one_group_are_read_by_columns() -> None:
    events = events_of(
        {"user": 7, "sender": 2**64 - 1, "data": 4096, "bytes": 10, "view": 5},
        {"user": 7, "sender": 3, "data": 2**47, "bytes": 2**32 - 1, "reason": 1, "health": 2},
    )
    found = events.deliveries()
    assert found is not None
    user, columns = found
    assert (user, columns.count) == (7, 2)
    assert columns.senders == [2**64 - 1, 3]
    assert columns.addresses == [4096, 2**47]
    assert columns.sizes == [10, 2**32 - 1]


def test_one_event_alone_reads_as_a_column() -> None:
    columns = binding_events.columns_of((1, 0, 0, 10, 0, 7, 3, 5, 4096, 0, 0, 0))
    assert (columns.senders, columns.addresses, columns.sizes) == ([3], [4096], [10])


@pytest.mark.parametrize("change", [{"user": 8}, {"user": 7, "type": EventType.VIEW}])
def test_anything_else_is_read_by_rows(change: dict[str, int]) -> None:
    events = events_of({"user": 7}, change)
    assert events.deliveries() is None
    assert len(events.rows()) == events.count == 2


def test_lent_memory_is_what_lies_at_each_address() -> None:
    memory = ffi.new("uint8_t[]", bytes(range(200)))
    start = int(ffi.cast("uintptr_t", memory))
    loan, views = binding_events.lend([start + 150, start, start + 20], [10, 0, 5])
    assert [bytes(view) for view in views] == [bytes(range(150, 160)), b"", bytes(range(20, 25))]
    for view in views:
        view.release()
    assert sys.getrefcount(loan) == 2, "nobody holds it any more"


def test_eviction_is_a_problem_and_admission_is_none() -> None:
    put_out = HealthChanged(Health.SUSPENDED, Reason.EVICTED_SLOW, 5)
    assert isinstance(put_out.problem, Evicted)
    assert put_out.problem.details == {"node": "0000000000000005"}
    assert HealthChanged(Health.MEMBER, Reason.ADMITTED, 5).problem is None


@pytest.mark.parametrize("reason", list(Reason))
def test_engine_has_a_sentence_for_every_reason(reason: Reason) -> None:
    assert binding.reason_text(reason)


@pytest.mark.parametrize("health", list(Health))
def test_engine_has_a_word_for_every_health(health: Health) -> None:
    assert binding.health_text(health)
    assert health.admitted == (health in {Health.MEMBER, Health.HOST})
