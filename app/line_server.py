"""Answers requests on a local socket under plain asyncio: what `single_instance.py` is with Qt.

A request is one line of JSON, the answer another. Only this user can open the socket.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.errors import StartProblem
from app.instance_client import ask
from widgets.language import tr

log = logging.getLogger(__name__)

REQUEST_BYTES_MAX = 65536
_REQUEST_S_MAX = 5.0

Answerer = Callable[[Mapping[str, Any]], dict[str, Any]]


def claim(path: Path) -> None:
    """Refuses where somebody answers already; a socket that nobody answers is removed."""
    if ask(path, {"do": "net"}) is not None:
        raise StartProblem(tr("The same command runs already in this profile: it goes on."))
    path.unlink(missing_ok=True)


class LineServer:
    """Listens until closed. Use `LineServer.start`."""

    def __init__(self, path: Path, answer: Answerer) -> None:
        self._path = path
        self._answer = answer
        self._server: asyncio.Server | None = None

    @classmethod
    async def start(cls, path: Path, answer: Answerer) -> LineServer:
        """Listens there, once `claim` has said that nobody else does."""
        server = cls(path, answer)
        mask = os.umask(0o177)
        try:
            server._server = await asyncio.start_unix_server(
                server._serve, path, limit=REQUEST_BYTES_MAX
            )
        except OSError as problem:
            raise StartProblem(
                tr("{file} cannot be used: {reason}.", file=path, reason=problem.strerror)
            ) from None
        finally:
            os.umask(mask)
        return server

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._remove()

    def _remove(self) -> None:
        self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_S_MAX):
                line = await reader.readuntil()
                writer.write(json.dumps(self._respond(line)).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as problem:
            log.info("a request on the local socket ended early: %r", problem)
        except asyncio.LimitOverrunError:
            log.info("a request on the local socket was too long")
        finally:
            writer.close()

    def _respond(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
        except ValueError:
            return {"error": "The request is not JSON."}
        if not isinstance(request, dict):
            return {"error": "The request is not an object."}
        try:
            return self._answer(request)
        except Exception:
            log.exception("a request on the local socket failed")
            return {"error": "The request failed; the log says why."}
