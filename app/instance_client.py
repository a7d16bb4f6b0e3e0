"""Asks the program that runs in a profile: one line of JSON there, one back; quick, without Qt."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ANSWER_BYTES_MAX = 64_000_000
_ANSWER_TIMEOUT_S = 10.0


def ask(path: Path, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Asks the program that listens there; None if none does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.settimeout(_ANSWER_TIMEOUT_S)
        try:
            channel.connect(str(path))
            channel.sendall(json.dumps(request).encode() + b"\n")
            answer = bytearray()
            while not answer.endswith(b"\n") and len(answer) < ANSWER_BYTES_MAX:
                part = channel.recv(65536)
                if not part:
                    break
                answer += part
            result = json.loads(answer)
        except (OSError, ValueError):
            return None
    return result if isinstance(result, dict) else None
