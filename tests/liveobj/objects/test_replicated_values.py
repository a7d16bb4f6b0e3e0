"""Maps, counters, logs and folders: several replicas in the simulator, under loss and late
joins."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from liveobj.capabilities import view_only
from liveobj.declare import Dual
from liveobj.objects.replicated_values import (
    CounterEndpoint,
    LogEndpoint,
    MapEndpoint,
    new_counter,
    new_log,
    new_map,
)
from liveobj.objects.shared_folder import FolderEditorEndpoint, new_folder
from liveobj.objects.standard_types import FolderEndpoint
from liveobj.objects.text_note import new_note
from liveobj.references import External, NamedType
from liveobj.runtime import ProxyState
from tests.liveobj.objects.replicas import Replicas

LOSS = pytest.mark.parametrize("loss", [0.0, 0.1])


def random_bytes(number: int) -> Any:
    return random.Random(number).randbytes


@LOSS
def test_a_map_is_the_same_for_all(tmp_path: Path, loss: float) -> None:
    office = Replicas(tmp_path, new_map("m", random_bytes(1)), 4, loss=loss)
    users = office.users("map", Dual[MapEndpoint])
    for number, user in enumerate(users):
        user.send("set", name=f"own {number}", value={"n": number})
        user.send("set", name="all", value=number)
    contents = [proxy.instance.content for proxy in office.proxies]
    office.until(
        lambda: all(len(c) == 5 and c.to_dict() == contents[0].to_dict() for c in contents)
    )
    users[0].send("remove", name="own 3")
    office.until(lambda: all(user.last("removed") == {"name": "own 3"} for user in users))
    late = office.user(office.join(), "map", Dual[MapEndpoint])
    office.until(lambda: len(late.all("changed")) >= 4)
    office.close()


@LOSS
def test_nothing_that_was_added_to_a_counter_is_lost(tmp_path: Path, loss: float) -> None:
    office = Replicas(tmp_path, new_counter("c", random_bytes(2)), 5, loss=loss)
    users = office.users("counter", Dual[CounterEndpoint])
    for turn in range(10):
        for number, user in enumerate(users):
            user.send("add", amount=float(number - turn % 2))
        office.simulation.run_for(0.02)
    office.until(lambda: all(user.last("value") == {"value": 75.0} for user in users))
    office.engines[4].crash()
    users[0].send("add", amount=1.0)
    office.until(lambda: all(user.last("value") == {"value": 76.0} for user in users[:4]))
    office.close()


@LOSS
def test_a_log_has_one_order_in_the_end(tmp_path: Path, loss: float) -> None:
    office = Replicas(tmp_path, new_log("l", random_bytes(3)), 4, loss=loss)
    users = office.users("log", Dual[LogEndpoint])
    for turn in range(5):
        for number, user in enumerate(users):
            user.send("append", entry=[number, turn])
        office.simulation.run_for(0.005)
    logs = [proxy.instance.content for proxy in office.proxies]
    office.until(lambda: all(len(log) == 20 for log in logs))
    assert all(log.to_list() == logs[0].to_list() for log in logs)

    def replayed(user: Any) -> list[Any]:
        shown: list[Any] = []
        for record in user.all("entries"):
            shown[record["start"] :] = record["entries"]
        return shown

    office.simulation.run_for(0.1)
    assert all(replayed(user) == logs[0].to_list() for user in users)
    office.close()


def test_one_who_may_only_look_is_told(tmp_path: Path) -> None:
    office = Replicas(tmp_path, view_only(new_counter("c", random_bytes(4))), 1)
    notices: list[str] = []
    office.runtimes[0].on_notice(lambda notice: notices.append(notice.sentence))
    office.user(0, "counter", Dual[CounterEndpoint]).send("add", amount=1.0)
    office.until(lambda: bool(notices))
    assert "can be viewed, but not edited" in notices[0]
    office.close()


def test_an_object_in_a_shared_folder_is_opened_by_name(tmp_path: Path) -> None:
    folder = new_folder("f", random_bytes(5))
    note = new_note("Inside", random_bytes(6))
    office = Replicas(tmp_path, folder, 2)
    editors = office.users("editor", Dual[FolderEditorEndpoint])
    editors[0].send("put", name="the note", reference=note)
    office.until(lambda: editors[1].last("names") == {"names": ["the note"]})
    external = External("the note", folder, as_type=NamedType("live-objects:text"))
    opened = office.runtimes[1].dereference(external)
    office.until(lambda: opened.state is ProxyState.RUNNING)
    reader = office.user(1, "folder", Dual[FolderEndpoint])
    reader.send("get", name="the note")
    reader.send("get", name="nothing")
    office.until(lambda: bool(reader.last("missing")))
    assert reader.last("item")["reference"] == note
    assert reader.last("missing") == {"name": "nothing"}
    editors[1].send("remove", name="the note")
    office.until(lambda: editors[0].last("names") == {"names": []})
    office.close()
