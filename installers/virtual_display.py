"""A virtual X screen with a window manager: for tests, and for machines that have no display.

As a program it runs one command on such a screen and ends with that command's exit code:

    python installers/virtual_display.py live-objects --screenshot picture.png
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

SCREEN = "1280x1024x24"
# OpenGL for the 3D views; no network; the screen stays as it is when its last window is closed.
SERVER_OPTIONS = ["-screen", "0", SCREEN, "+extension", "GLX", "-nolisten", "tcp", "-noreset"]
# The kernel ends the program when this process is gone, also when it was killed and could not tidy.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "TERM"]
START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0
POLL_S = 0.02


class NoVirtualDisplay(Exception):
    """A virtual screen could not be started; the text says why and what to do."""


@contextmanager
def virtual_display() -> Iterator[str]:
    """Starts Xvfb on a free display and openbox on it; gives the value for DISPLAY; ends both."""
    for program in ("Xvfb", "openbox", "xprop", "setpriv"):
        if shutil.which(program) is None:
            raise NoVirtualDisplay(f"a virtual display needs the program {program}; install it")
    server, display = _start_server()
    try:
        manager = _start_window_manager(display)
        try:
            yield display
        finally:
            _stop(manager)
    finally:
        _stop(server)


def environment_on(display: str) -> dict[str, str]:
    """This process's environment, for a Qt program that is to appear on that screen."""
    inherited = {name: text for name, text in os.environ.items() if name != "WAYLAND_DISPLAY"}
    return {**inherited, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}


def _start_server() -> tuple[subprocess.Popen[bytes], str]:
    reading, writing = os.pipe()
    try:
        server = subprocess.Popen(
            # The server picks a free number and writes it to the descriptor when it is ready.
            [*ENDS_WITH_US, "Xvfb", "-displayfd", str(writing), *SERVER_OPTIONS],
            pass_fds=[writing],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    finally:
        os.close(writing)
    with os.fdopen(reading) as answer:
        ready, _, _ = select.select([answer], [], [], START_TIMEOUT_S)
        # An empty answer means that the server has ended and so closed its side.
        number = answer.readline().strip() if ready else ""
    if not number:
        _stop(server)
        raise NoVirtualDisplay(f"Xvfb did not start (exit code {server.returncode})")
    return server, f":{number}"


def _start_window_manager(display: str) -> subprocess.Popen[bytes]:
    environment = environment_on(display)
    manager = subprocess.Popen(
        [*ENDS_WITH_US, "openbox", "--sm-disable"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _has_window_manager(environment):
        if manager.poll() is not None or time.monotonic() > deadline:
            _stop(manager)
            raise NoVirtualDisplay(f"openbox did not start (exit code {manager.returncode})")
        time.sleep(POLL_S)
    return manager


def _has_window_manager(environment: dict[str, str]) -> bool:
    """Whether a manager has announced itself, by a property of the root window."""
    answer = subprocess.run(
        ["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return "window id" in answer.stdout


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(command: list[str]) -> int:
    """Runs the command on a virtual screen."""
    if not command:
        print("usage: virtual_display.py COMMAND [ARGUMENT…]", file=sys.stderr)
        return 2
    try:
        with virtual_display() as display:
            code = subprocess.run(command, env=environment_on(display), check=False).returncode
            # Ended by a signal: as a shell says it.
            return code if code >= 0 else 128 - code
    except NoVirtualDisplay as problem:
        print(f"live-objects: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
