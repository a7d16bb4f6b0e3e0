"""The local socket: one program per profile, questions and answers, rubbish survived."""

from __future__ import annotations

import json
import resource
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app import single_instance
from app.errors import StartProblem
from app.instance_client import ask
from app.single_instance import InstanceServer


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    if request.get("do") == "fail":
        raise RuntimeError("on purpose")
    return {"you said": request.get("do")}


def ask_meanwhile(qtbot: Any, path: Path, line: bytes) -> Any:
    """Asks from another thread, as another process would, while Qt's loop runs here."""
    answers: list[bytes] = []

    def talk() -> None:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(5)
            channel.connect(str(path))
            channel.sendall(line)
            received = b""
            while part := channel.recv(4096):
                received += part
            answers.append(received)

    thread = threading.Thread(target=talk)
    thread.start()
    qtbot.waitUntil(lambda: bool(answers), timeout=5000)
    thread.join()
    return json.loads(answers[0])


def test_a_question_is_answered(tmp_path: Path, qtbot: Any) -> None:
    server = InstanceServer(tmp_path / "s")
    assert server.claim()
    server.listen(answer)
    assert ask_meanwhile(qtbot, tmp_path / "s", b'{"do": "x"}\n') == {"you said": "x"}
    server.close()


@pytest.mark.parametrize(("room", "told"), [(False, "disk is full"), (True, "cannot be written")])
def test_a_disk_that_refuses_is_not_taken_for_another_program(
    room: bool, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_instance, "has_room", lambda _folder: room)
    server = InstanceServer(tmp_path / "s")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(StartProblem, match=told):
            server.claim()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert server.claim(), "there is room again"
    assert not InstanceServer(tmp_path / "s").claim(), "one program has it"
    server.close()


@pytest.mark.parametrize("line", [b"rubbish\n", b"[1]\n", b'{"do": "fail"}\n', b"\xff\n"])
def test_rubbish_and_failures_are_answered_too(tmp_path: Path, qtbot: Any, line: bytes) -> None:
    server = InstanceServer(tmp_path / "s")
    server.listen(answer)
    assert "error" in ask_meanwhile(qtbot, tmp_path / "s", line)
    server.close()


def test_nobody_there(tmp_path: Path) -> None:
    assert ask(tmp_path / "s", {"do": "x"}) is None


def test_a_socket_left_by_a_crash_is_taken_over(tmp_path: Path, qtbot: Any) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "s"))
    server = InstanceServer(tmp_path / "s")
    server.listen(answer)
    assert ask_meanwhile(qtbot, tmp_path / "s", b"{}\n") == {"you said": None}
    server.close()


def test_a_profile_has_one_program(tmp_path: Path, qapp: Any) -> None:
    first, second = (InstanceServer(tmp_path / "s") for _ in range(2))
    assert first.claim()
    assert not second.claim()
    first.close()
    assert second.claim()
    second.close()
