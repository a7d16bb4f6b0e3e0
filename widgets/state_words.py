"""What is said about the state of an object: the words of the state line, and what explains them.

Nothing is said that is not known. Who is connected is known, not who has a copy; that something has
reached the others is known when they have acknowledged it.
"""

from __future__ import annotations

from dataclasses import dataclass

from liveobj.objects.shared_document import SharedState
from widgets.language import tr, tr_n

# Each letter is a change: of a long paste one need not know how many they are.
_COUNTED_MAX = 999


@dataclass(frozen=True, slots=True)
class NetworkWords:
    """What the program knows about its network: a few words for the line, one sentence behind."""

    short: str
    sentence: str


def summary(state: SharedState) -> str:
    """The line itself: "saved · 3 people here"."""
    parts = [_saved_words(state), _people_words(state.people)]
    if state.catching_up:
        parts.insert(1, tr("catching up"))
    if state.unsent:
        parts += _unsent_words(state)
    if not state.can_edit:
        parts.append(tr("you can read it"))
    return " · ".join(parts)


def not_saved_words(disk_full: bool) -> str:
    """The warning while the disk refuses."""
    if disk_full:
        return tr(
            "Not saved: the disk is full. Your changes are kept in this window and are saved as "
            "soon as there is room."
        )
    return tr(
        "Not saved: the disk refuses to write. Your changes are kept in this window and are saved "
        "as soon as it writes again."
    )


def _saved_words(state: SharedState) -> str:
    if state.problem is not None:
        return tr("not saved")
    if not state.saved:
        return tr("saving…")
    return tr("draft not saved") if state.draft else tr("saved")


def _people_words(people: int) -> str:
    if people == 0:
        return tr("offline")
    return tr_n("only you are here", "{count} people here", people)


def _unsent_words(state: SharedState) -> list[str]:
    if state.people == 1:
        return []  # there is nobody who could have received it
    if state.people == 0:
        return [tr_n("{count} change not sent", "{count} changes not sent", state.unsent)]
    if state.unsent > _COUNTED_MAX:
        return [tr("many changes not yet received by the others")]
    return [
        tr_n(
            "{count} change not yet received by the others",
            "{count} changes not yet received by the others",
            state.unsent,
        )
    ]


def details(state: SharedState, network: NetworkWords) -> list[tuple[str, str]]:
    """Headings and sentences that explain the line."""
    rows = [
        (tr("Saved"), _saved_sentence(state)),
        (tr("Together"), _people_sentence(state)),
        (tr("Sent"), _sent_sentence(state)),
    ]
    if not state.can_edit:
        rows.append(
            (tr("Rights"), tr("This reference lets you read. Ask its owner for one to edit."))
        )
    return [*rows, (tr("Network"), network.sentence)]


def _saved_sentence(state: SharedState) -> str:
    if state.problem is not None:
        return state.problem
    if not state.saved:
        return tr("The newest change is on its way to this PC's disk.")
    if state.draft:
        return tr("What you are typing is saved when you enter or send it.")
    return tr("Everything in it is on this PC's disk.")


def _people_sentence(state: SharedState) -> str:
    if state.people == 0:
        words = tr("This PC is not connected to others. What you write is merged when it is.")
    elif state.people == 1:
        words = tr("Nobody else has it open now.")
    else:
        words = tr("{count} people have it open, you included.", count=state.people)
    if state.catching_up:
        words += " " + tr("What was written before is still arriving.")
    return words


def _sent_sentence(state: SharedState) -> str:
    if state.people == 1:
        return tr("Others receive your changes when they open it.")
    if state.unsent == 0 and state.people == 0:
        return tr("None of your changes is waiting.")
    if state.unsent == 0:
        return tr("Everyone who is here has received your changes.")
    return tr_n(
        "{count} of your changes has not reached the others yet. It is not lost.",
        "{count} of your changes have not reached the others yet. They are not lost.",
        state.unsent,
    )
