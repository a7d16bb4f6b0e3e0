"""Owns the life cycle of a proxy, as one table.

    CREATED ──connect──▶ CONNECTING ──start──▶ RUNNING ◀──wake── ASLEEP
       └────────────────start─────────────────▶ RUNNING ──sleep─▶ ASLEEP
    any of these ──fail──▶ FAILED;   any but DISPOSED ──dispose──▶ DISPOSED

CONNECTING is for what has to ask others first: external references, and composites that have one.
"""

from __future__ import annotations

from enum import Enum

from liveobj.runtime.errors import WrongMoment


class ProxyState(Enum):
    """Where a proxy is in its life."""

    CREATED = "created"
    CONNECTING = "connecting"
    RUNNING = "running"
    ASLEEP = "asleep"
    FAILED = "failed"
    DISPOSED = "disposed"

    @property
    def alive(self) -> bool:
        return self in (ProxyState.RUNNING, ProxyState.ASLEEP)


class Stimulus(Enum):
    """What happens to a proxy."""

    CONNECT = "connect"
    START = "start"
    SLEEP = "sleep"
    WAKE = "wake"
    FAIL = "fail"
    DISPOSE = "dispose"


_S, _E = ProxyState, Stimulus

TABLE: dict[tuple[ProxyState, Stimulus], ProxyState] = {
    (_S.CREATED, _E.CONNECT): _S.CONNECTING,
    (_S.CREATED, _E.START): _S.RUNNING,
    (_S.CONNECTING, _E.START): _S.RUNNING,
    (_S.RUNNING, _E.SLEEP): _S.ASLEEP,
    (_S.ASLEEP, _E.WAKE): _S.RUNNING,
    **{(state, _E.FAIL): _S.FAILED for state in (_S.CREATED, _S.CONNECTING, _S.RUNNING, _S.ASLEEP)},
    **{(state, _E.DISPOSE): _S.DISPOSED for state in _S if state is not _S.DISPOSED},
}


def next_state(state: ProxyState, stimulus: Stimulus) -> ProxyState:
    """Raises WrongMoment, and nothing has changed, for what cannot happen in this state."""
    following = TABLE.get((state, stimulus))
    if following is None:
        raise WrongMoment(f"A proxy that is {state.value} cannot {stimulus.value}.")
    return following
