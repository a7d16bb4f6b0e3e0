"""Whether there is a screen to show windows on, found out before Qt would abort for lack of one."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from widgets.language import tr

_CONNECT_TIMEOUT_S = 2.0
# What Qt paints into memory there, nobody sees.
_UNSEEN = ("offscreen", "minimal")


def is_seen(environment: Mapping[str, str]) -> bool:
    """Whether a window would be before somebody's eyes."""
    return _platform(environment) not in _UNSEEN and not display_problem(environment)


def display_problem(environment: Mapping[str, str]) -> str:
    """One sentence if no window can be shown, else an empty string."""
    if sys.platform != "linux":
        return ""
    platform = _platform(environment)
    if platform and platform not in ("xcb", "wayland"):
        return ""
    if environment.get("WAYLAND_DISPLAY") and platform != "xcb":
        return ""
    display = environment.get("DISPLAY", "")
    if not display:
        return tr(
            "There is no display to show a window on (DISPLAY and WAYLAND_DISPLAY are not set):"
            " start it from a desktop, or on a virtual one."
        )
    if not _answers(display):
        return tr("The display {name} does not answer: check the variable DISPLAY.", name=display)
    return ""


def _platform(environment: Mapping[str, str]) -> str:
    return environment.get("QT_QPA_PLATFORM", "").split(":")[0]


def _answers(display: str) -> bool:
    host, _, number = display.rpartition(":")
    number = number.split(".")[0]
    if not number.isdigit():
        return False
    if host not in ("", "unix"):
        return _connects(socket.AF_INET, (host, 6000 + int(number)))
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108  the fixed place of X servers
    unix = socket.AF_UNIX
    return _connects(unix, f"\0{path}") or (Path(path).exists() and _connects(unix, path))


def _connects(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.settimeout(_CONNECT_TIMEOUT_S)
        try:
            probe.connect(address)
        except OSError:
            return False
    return True
