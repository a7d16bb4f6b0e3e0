"""Owns the errors of this layer; each class says whose fault it was, each message what to do.

Five families: `Misuse` (the calling code is wrong), `EnvironmentRefused` (the machine or the
network says no), `BackPressure` (nobody's fault, wait), `Gone` (closed here, or put out by the
others). What a stranger sends to the engine is never an error: it is counted and dropped. Only a
stream, which has one peer, reports what that peer did (`PeerViolation`).
"""

from __future__ import annotations

Detail = str | int | bytes | None


class TransportError(Exception):
    """Something that the network layer could not do.

    `str()` is one sentence for a person; `details` holds what a log wants besides: group, port,
    interface, the engine's own words.
    """

    def __init__(self, message: str, **details: Detail) -> None:
        super().__init__(message)
        self.details = {
            name: value.hex() if isinstance(value, bytes) else value
            for name, value in details.items()
            if value is not None
        }

    @property
    def described(self) -> str:
        """The sentence and the details, for a log."""
        listed = ", ".join(f"{name} {value}" for name, value in self.details.items())
        return f"{self} ({listed})" if listed else str(self)


# The calling code is wrong.


class Misuse(TransportError):
    """A call that the interface forbids; the code that made it must change."""


class BadArgument(Misuse):
    """An argument that is out of its bounds."""


class TooLarge(Misuse):
    """A message longer than the engine carries."""


class AlreadyJoined(Misuse):
    """A second join of the same group by the same engine."""


class NotFound(Misuse):
    """A group or node that is not there."""


class BadPlan(Misuse):
    """A region plan that is malformed."""


class WrongMoment(Misuse):
    """A call from inside a callback that must not make it."""


class ViewKept(Misuse):
    """A lent view that was kept after the callback it was lent to."""


class FeedFailed(Misuse):
    """A feed raised, or gave what is not a message; it has been withdrawn. See `__cause__`."""


class CallbackFailed(Misuse):
    """A callback raised; the others were called all the same. See `__cause__`."""


# The machine or the network says no.


class EnvironmentRefused(TransportError):
    """The machine does not allow what was asked; its user or administrator can change that."""


class PortInUse(EnvironmentRefused):
    """Another program holds the port."""


class NoInterface(EnvironmentRefused):
    """No network interface of that name or address, or it is down."""


class NoMulticast(EnvironmentRefused):
    """The interface cannot send or receive multicast."""


class PermissionRefused(EnvironmentRefused):
    """The system does not let this program open its sockets."""


class OutOfMemory(EnvironmentRefused):
    """There was no memory; nothing was changed."""


class SystemRefused(EnvironmentRefused):
    """Another error of the operating system."""


# Nobody's fault.


class BackPressure(TransportError):
    """A bounded queue is full: wait for room (`Group.drain`), or offer a feed instead of
    sending."""


class Overrun(BackPressure):
    """A reader did not keep up with a group and lost its place."""


# What is no longer there.


class Gone(TransportError):
    """What was used has ended."""


class Closed(Gone):
    """The engine or the group has been closed, or left, on this side."""


class Evicted(Gone):
    """The others put this node out, because it was silent or too slow."""


class PeerLost(Gone):
    """The connection to another computer ended too early; trying again goes on where it stopped."""


class Declined(Gone):
    """The person at the other computer said no."""


# The other side is wrong.


class PeerViolation(TransportError):
    """Another computer sent what it must not, or does not have the key; it is not to be trusted."""


# Result codes of the engine (enum qsm_result), and what each means to a caller.
_FAILURES: dict[int, tuple[type[TransportError], str]] = {
    -1: (BadArgument, "The engine refused an argument: check it against the documented bounds."),
    -2: (OutOfMemory, "There was not enough memory: close something and try again."),
    -3: (BackPressure, "The queue of unsent messages is full: wait for room, then send again."),
    -4: (NotFound, "There is no such group or node: join or add it first."),
    -5: (AlreadyJoined, "This engine is in the group already: use the group that join returned."),
    -6: (TooLarge, "The message is too large: split it, or send it as a stream."),
    -7: (Closed, "The engine or the group has been closed: open or join it again."),
    -8: (PortInUse, "The port is in use by another program: close that, or choose another port."),
    -9: (NoInterface, "There is no such network interface, or it is down: choose another one."),
    -10: (
        NoMulticast,
        "The network interface cannot multicast: choose another one, or switch multicast off.",
    ),
    -11: (
        PermissionRefused,
        "The system refused to open the network socket: allow it in the firewall or sandbox.",
    ),
    -12: (SystemRefused, "The operating system refused the network: its reason is in the details."),
    -13: (BadPlan, "The region plan is malformed: the previous plan stays in force."),
}

RESULT_CODES = frozenset(_FAILURES)


def error_for(result: int, message: str | None = None, **details: Detail) -> TransportError:
    """The error that a negative result code of the engine means."""
    kind, sentence = _FAILURES.get(result, (TransportError, f"The engine failed with {result}."))
    return kind(message or sentence, **details)
