"""Chats: who may do what to which message, order with wrong clocks, and junk in the document."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liveobj.capabilities import view_only
from liveobj.declare import Dual
from liveobj.documents import DocumentError
from liveobj.objects.chat import (
    STAMP_MAX,
    TEXT_CHARACTERS_MAX,
    Chat,
    ChatEndpoint,
    Message,
    new_chat,
    open_chat,
    read_message,
)
from liveobj.runtime import Runtime
from tests.liveobj.objects.replicas import User
from tests.liveobj.support import LocalOffice, make_host

CHAT = new_chat("Lunch", random.Random(3).randbytes)


Office = LocalOffice[Chat]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return LocalOffice(tmp_path, CHAT, open_chat)


def texts(chat: Chat) -> list[str]:
    return [message.text for message in sorted(chat.all(), key=lambda each: each.place)]


def test_what_one_says_all_have_and_an_answer_stands_below_its_question(office: Office) -> None:
    ada, jun = office.open(1), office.open(2)
    question = ada.say("  Pasta?  ")
    office.settle()
    answer = jun.say("Yes", reply_to=question)
    office.settle()
    assert texts(ada) == texts(jun) == ["Pasta?", "Yes"]
    said = ada.get(answer)
    assert said is not None
    assert said.reply_to == question
    assert said.name == "person 2"
    late = office.open(3)
    office.settle()
    assert texts(late) == ["Pasta?", "Yes"]


def test_one_changes_only_what_is_ones_own_and_it_shows(office: Office) -> None:
    ada, jun = office.open(1), office.open(2)
    mine = ada.say("Pizza")
    office.settle()
    with pytest.raises(DocumentError, match="Only the one who wrote"):
        jun.edit(mine, "Salad")
    with pytest.raises(DocumentError, match="Only the one who wrote"):
        jun.delete(mine)
    ada.edit(mine, "Pizza at one")
    office.settle()
    seen = jun.get(mine)
    assert seen is not None
    assert (seen.text, seen.edited) == ("Pizza at one", True)
    ada.delete(mine)
    office.settle()
    gone = jun.get(mine)
    assert gone is not None
    assert (gone.text, gone.deleted) == ("", True)
    with pytest.raises(DocumentError, match="not there any more"):
        ada.edit(mine, "again")
    assert ada.document.undo()
    back = ada.get(mine)
    assert back is not None
    assert back.text == "Pizza at one"


def test_what_was_said_is_not_taken_back_by_undo(office: Office) -> None:
    ada = office.open(1)
    ada.say("said")
    assert not ada.document.can_undo


def test_messages_are_ones_own_after_a_restart(office: Office) -> None:
    ada = office.open(1)
    mine = ada.say("before")
    me = ada.me
    ada.close()
    again = office.open(1)
    assert again.me == me
    again.edit(mine, "after")
    assert texts(again) == ["after"]


@pytest.mark.parametrize("text", ["", "  \n ", "x" * (TEXT_CHARACTERS_MAX + 1)])
def test_nothing_and_too_much_are_refused(office: Office, text: str) -> None:
    ada = office.open(1)
    with pytest.raises(DocumentError):
        ada.say(text)
    assert texts(ada) == []


def test_who_may_only_look_cannot_write(office: Office) -> None:
    viewer = office.open(1, view_only(CHAT))
    with pytest.raises(DocumentError):
        viewer.say("hello")


def test_a_stamp_from_the_far_future_draws_nobody_along(office: Office) -> None:
    ada = office.open(1)
    ada._host = make_now(ada._host, 1_800_000_000)
    bogus = {"author": "x", "text": "from tomorrow", "at": STAMP_MAX}
    ada.messages.set("bogus", bogus)
    mine = ada.get(ada.say("now"))
    assert mine is not None
    assert mine.stamp == 1_800_000_000_000
    other = {"author": "x", "text": "a clock that is a minute fast", "at": 1_800_000_060_000}
    ada.messages.set("fast", other)
    answer = ada.get(ada.say("answer"))
    assert answer is not None
    assert answer.stamp == 1_800_000_060_001


def make_now(host: Any, seconds: float) -> Any:
    return replace(host, wall_time=lambda: seconds)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = st.sampled_from(["author", "name", "colour", "at", "text", "to", "state"])


@given(st.dictionaries(FIELDS, PLAIN) | PLAIN)
def test_whatever_is_in_the_document_is_a_sane_message_or_none(value: Any) -> None:
    message = read_message("id", value)
    if message is not None:
        assert isinstance(message, Message)
        assert 0 <= message.stamp <= STAMP_MAX
        assert len(message.text) <= TEXT_CHARACTERS_MAX
        assert all(isinstance(each, str) for each in (message.name, message.colour, message.text))


def test_objects_take_part_through_the_endpoint(office: Office, tmp_path: Path) -> None:
    host = make_host(office.network, 1, tmp_path, office.clock)
    runtime = Runtime(host)
    proxy = runtime.dereference(CHAT)
    user = User(runtime, proxy, "chat", Dual[ChatEndpoint])
    user.send("say", text="beep")
    office.settle()
    assert user.last("said") == {"name": "person 1", "text": "beep"}
    user.send("say", text="   ")
    office.settle()
    assert len(user.all("said")) == 1
    proxy.close()
