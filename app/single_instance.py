"""One running program per profile: later starts hand their files over, scripts can ask it things.

The running program listens on a local socket that only this user can open. A request is one line
of JSON, the answer another; `Desk.answer` lists what can be asked, `instance_client.py` asks.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLockFile, QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.errors import StartProblem
from liveobj.storage.damage import has_room
from widgets.language import tr

log = logging.getLogger(__name__)

REQUEST_BYTES_MAX = 1_000_000

Answerer = Callable[[Mapping[str, Any]], dict[str, Any]]


class InstanceServer(QObject):
    """Answers requests. First `claim` the profile, then `listen`, at the end `close`."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._answer: Answerer | None = None
        self._lock = QLockFile(str(path.with_suffix(".lock")))
        self._lock.setStaleLockTime(0)  # held as long as its process lives, however long that is
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def claim(self) -> bool:
        """True if this is now the program of its profile; nobody else can be until `close`. Raises
        StartProblem if the disk refuses."""
        if self._lock.tryLock(0):
            return True
        if self._lock.error() is QLockFile.LockError.LockFailedError:
            return False  # another one has it
        folder = self._path.parent
        if has_room(folder):
            raise StartProblem(
                tr(
                    "The folder {folder} cannot be written: check that the disk works and that"
                    " you may write there.",
                    folder=folder,
                )
            )
        raise StartProblem(
            tr(
                "The disk is full: make room in {folder} and start the program again.",
                folder=folder,
            )
        )

    def listen(self, answer: Answerer) -> None:
        """From now on requests are answered with what `answer` returns for them."""
        self._answer = answer
        # Whoever holds the lock owns the socket; one that is there was left by a crash.
        QLocalServer.removeServer(str(self._path))
        if not self._server.listen(str(self._path)):
            log.warning("cannot listen on %s: %s", self._path, self._server.errorString())

    def close(self) -> None:
        self._server.close()
        self._lock.unlock()

    def _on_connection(self) -> None:
        while (channel := self._server.nextPendingConnection()) is not None:
            channel.readyRead.connect(lambda channel=channel: self._on_ready(channel))
            channel.disconnected.connect(channel.deleteLater)

    def _on_ready(self, channel: QLocalSocket) -> None:
        if not channel.canReadLine():
            if channel.bytesAvailable() > REQUEST_BYTES_MAX:
                channel.abort()
            return
        answer = self._respond(bytes(channel.readLine().data()))
        channel.write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
        channel.flush()
        channel.disconnectFromServer()

    def _respond(self, line: bytes) -> dict[str, Any]:
        try:
            request = json.loads(line)
        except ValueError:
            return {"error": "The request is not JSON."}
        if not isinstance(request, dict):
            return {"error": "The request is not an object."}
        assert self._answer is not None, "connections come only after listen"
        try:
            return self._answer(request)
        except Exception:
            log.exception("a request on the local socket failed")
            return {"error": "The request failed; the log says why."}
