"""A chat of two people: questions, an answer to one of them, a message that was corrected."""

from __future__ import annotations

from app.samples.sample import Sample, Shown
from liveobj.objects.chat import Chat
from widgets.object_view import ObjectView

TITLE = "Lunch talk"
TALK = ("Shall I bring the kite?", "It may rain.", "Then I take the cards as well.")


def fill(chat: Chat) -> None:
    """A few words of one person alone."""
    for words in TALK:
        chat.say(words)


def _chat(view: ObjectView) -> Chat:
    chat = view.opening.shared
    assert isinstance(chat, Chat), "a chat holds one"
    return chat


def _ask(view: ObjectView) -> None:
    chat = _chat(view)
    chat.say("Good morning! Is the terrace free on Friday?")
    chat.say("And shall I bring the kite?")


def _answer(view: ObjectView) -> None:
    chat = _chat(view)
    question = min(chat.all(), key=lambda message: message.place)
    chat.say("It is, from noon on. I have put our names on the list.", question.identity)
    chat.say("Bring it: they expect wind from the west.")


def _thank(view: ObjectView) -> None:
    chat = _chat(view)
    said = chat.say("Splendid. I come at eleven and set the table.")
    chat.edit(said, "Splendid. I come at half past eleven and set the table.")


def _agree(view: ObjectView) -> None:
    _chat(view).say("See you there. The plan is at https://example.org/terrace")


def _is_whole(shown: Shown) -> bool:
    messages = shown["messages"]
    return len(messages) == 6 and len({message["name"] for message in messages}) == 2


SAMPLE = Sample(TITLE, (_ask, _answer, _thank, _agree), _is_whole)
