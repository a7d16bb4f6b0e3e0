"""Owns a pairing over TCP: an invitation that waits for somebody who asks, and the asking.

For a dialog. The one who has the scope opens an `Invitation` and awaits `meet()`; the one who
wants to join awaits `ask(peer, …)`. Both get a `Meeting` with the same code, if nobody stands
between them. When the two people have compared it, one side awaits `give(scope)`, the other
`take()`; or either `refuse()`s. The scope's key leaves only after both have agreed.

Strangers can take the place of the one who is invited, never the scope: each connection has little
time, one is served at a time, and an invitation ends after a few meetings that were refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import struct
from collections.abc import AsyncIterator, Callable

from transport.config import Peer
from transport.errors import Closed, Declined, PeerLost, PeerViolation, SystemRefused
from transport.pairing import Asking, Inviting, RandomBytes, Session
from transport.scopes import Scope
from transport.sealed_stream import end

# The four messages need no people, so they need little time; the comparing needs some.
HANDSHAKE_S = 10.0
COMPARE_S = 180.0
FRAME_BYTES_MAX = 1024
# Meetings that may come to nothing before the person has to invite anew: an attacker's tries.
MEETINGS_MAX = 3
_CLOSE_S = 1.0

_LENGTH = struct.Struct("!H")
_AGREED, _REFUSED, _SCOPE, _TAKEN = b"A", b"R", b"S", b"T"


class Meeting:
    """Two computers that may be each other's: `code` is what both people compare."""

    def __init__(
        self,
        frames: _Frames,
        session: Session,
        their_name: str,
        scope_name: str,
        on_given: Callable[[], None] | None = None,
    ) -> None:
        self.code = session.code
        self.their_name = their_name
        self.scope_name = scope_name
        self._frames = frames
        self._session = session
        self._on_given = on_given

    async def give(self, scope: Scope) -> None:
        """The person here has seen the same code there: waits for the other's word, then sends the
        scope. Returns when it has arrived."""
        async with self._ending():
            await self._say(_AGREED)
            await self._expect(_AGREED)
            await self._say(_SCOPE + scope.invitation().encode())
            await self._expect(_TAKEN)
            if self._on_given is not None:
                self._on_given()

    async def take(self) -> Scope:
        """The person here has seen the same code there: says so, and waits for the scope."""
        async with self._ending():
            await self._say(_AGREED)
            await self._expect(_AGREED)
            sent = await self._expect(_SCOPE)
            try:
                scope = Scope.from_invitation(sent.decode("utf-8", "replace"))
            except Exception as problem:
                raise PeerViolation("What arrived is no scope: begin again.") from problem
            await self._say(_TAKEN)
            return scope

    async def refuse(self) -> None:
        """The codes differ, or the person thought better of it. Harmless afterwards."""
        with contextlib.suppress(PeerLost):
            await self._say(_REFUSED)
        await self._frames.close()

    async def _say(self, data: bytes) -> None:
        await self._frames.send(self._session.seal(data), HANDSHAKE_S)

    async def _expect(self, kind: bytes) -> bytes:
        data = self._session.open(await self._frames.receive(COMPARE_S))
        if data == _REFUSED:
            raise Declined(
                "The other person has refused: if the codes were not the same, somebody may stand"
                " between the two computers."
            )
        if data[:1] != kind:
            raise PeerViolation("The other computer does not keep to the order: begin again.")
        return data[1:]

    @contextlib.asynccontextmanager
    async def _ending(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self._frames.close()


class Invitation:
    """Waits at `peer` for those who ask. Use `Invitation.open`; it ends with `close`, or by itself
    after MEETINGS_MAX meetings that came to nothing."""

    def __init__(self, scope_name: str, my_name: str, random_bytes: RandomBytes) -> None:
        self._scope_name = scope_name
        self._my_name = my_name
        self._random_bytes = random_bytes
        self._server: asyncio.Server | None = None
        self._connections: set[_Frames] = set()
        self._met: asyncio.Queue[Meeting | None] = asyncio.Queue()
        self._in_vain = 0

    @classmethod
    async def open(
        cls,
        scope: Scope,
        my_name: str,
        address: str,
        *,
        port: int = 0,
        random_bytes: RandomBytes = os.urandom,
    ) -> Invitation:
        """Listens at this address of this computer."""
        invitation = cls(scope.name, my_name, random_bytes)
        try:
            invitation._server = await asyncio.start_server(invitation._connected, address, port)
        except OSError as problem:
            raise SystemRefused(
                f"This computer cannot wait for others at {address}: {problem.strerror}."
            ) from problem
        return invitation

    @property
    def peer(self) -> Peer:
        """Where those who ask connect to."""
        if self._server is None:
            raise Closed("The invitation has ended: invite again.")
        address, port = self._server.sockets[0].getsockname()[:2]
        return Peer(address, port)

    async def meet(self) -> Meeting:
        """The next one who asks; Closed when the invitation has ended."""
        meeting = await self._met.get() if self._server is not None or self._met.qsize() else None
        if meeting is None:
            raise Closed("The invitation has ended: invite again.")
        return meeting

    def close(self) -> None:
        """Nobody is let in any more; a meeting under way goes on. Harmless when done twice."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
            self._met.put_nowait(None)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        frames = _Frames(reader, writer, self._disconnected)
        # One at a time: whoever comes while two people compare their code can try again.
        if self._connections or self._server is None:
            await frames.close()
            return
        self._connections.add(frames)
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                meeting = await self._greet(frames)
        except (PeerLost, PeerViolation, TimeoutError):
            await frames.close()
            return
        except BaseException:
            frames.drop()
            raise
        self._in_vain += 1  # until it is known better
        self._met.put_nowait(meeting)

    def _disconnected(self, frames: _Frames) -> None:
        self._connections.discard(frames)
        if self._in_vain >= MEETINGS_MAX:
            self.close()

    def _given(self) -> None:
        self._in_vain = 0

    async def _greet(self, frames: _Frames) -> Meeting:
        side = Inviting(self._random_bytes)
        their_name = side.hear_hello(await frames.receive(HANDSHAKE_S))
        await frames.send(side.commit(self._my_name, self._scope_name), HANDSHAKE_S)
        their_public = side.hear_key(await frames.receive(HANDSHAKE_S))
        message, session = side.reveal(their_public)
        await frames.send(message, HANDSHAKE_S)
        return Meeting(frames, session, their_name, self._scope_name, self._given)


async def ask(peer: Peer, my_name: str, *, random_bytes: RandomBytes = os.urandom) -> Meeting:
    """Asks the one who invites at `peer`; PeerLost, PeerViolation."""
    try:
        async with asyncio.timeout(HANDSHAKE_S):
            reader, writer = await asyncio.open_connection(peer.address, peer.port)
    except (OSError, TimeoutError) as problem:
        raise PeerLost(
            "Nobody invites there: ask the other person to invite again.",
            address=peer.address,
            port=peer.port,
        ) from problem
    frames = _Frames(reader, writer)
    side = Asking(random_bytes)
    try:
        await frames.send(side.hello(my_name), HANDSHAKE_S)
        heard = side.hear_commit(await frames.receive(HANDSHAKE_S))
        commitment, their_name, scope_name = heard
        await frames.send(side.key(), HANDSHAKE_S)
        session = side.hear_reveal(await frames.receive(HANDSHAKE_S), commitment)
    except BaseException:
        frames.drop()
        raise
    return Meeting(frames, session, their_name, scope_name)


class _Frames:
    """Messages with their length before them, over one connection."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_closed: Callable[[_Frames], None] | None = None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._on_closed = on_closed

    async def send(self, data: bytes, limit_s: float) -> None:
        try:
            self._writer.write(_LENGTH.pack(len(data)) + data)
            async with asyncio.timeout(limit_s):
                await self._writer.drain()
        except (OSError, TimeoutError) as problem:
            raise _lost() from problem

    async def receive(self, limit_s: float) -> bytes:
        try:
            async with asyncio.timeout(limit_s):
                (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
                if not 0 < length <= FRAME_BYTES_MAX:
                    raise PeerViolation("The other computer sent a frame of impossible length.")
                return await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, OSError, TimeoutError) as problem:
            raise _lost() from problem

    async def close(self) -> None:
        """Harmless when done twice."""
        await end(self._writer, _CLOSE_S)
        self._closed()

    def drop(self) -> None:
        self._writer.transport.abort()
        self._closed()

    def _closed(self) -> None:
        if self._on_closed is not None:
            self._on_closed(self)


def _lost() -> PeerLost:
    return PeerLost("The other computer has gone, or its user took too long: begin again.")
