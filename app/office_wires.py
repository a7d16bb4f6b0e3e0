"""Cables between programs on one computer, which can be pulled: network namespaces on a bridge.

Each program has a namespace with one interface; the switch is in a namespace of its own, so nothing
appears in the computer's real network. Needs the rights to make namespaces, and iproute2.
"""

from __future__ import annotations

import os
import shutil
import subprocess

INTERFACE = "lan0"


class NoWires(Exception):
    """Why there can be none here, in a sentence."""


class Wires:
    """`count` programs on one switch. Raises NoWires; closing takes everything down again."""

    def __init__(self, count: int) -> None:
        if shutil.which("ip") is None:
            raise NoWires("The program ip (iproute2) is missing.")
        prefix = f"live-objects-{os.getpid()}"
        self._switch = f"{prefix}-switch"
        self._places = [f"{prefix}-{number}" for number in range(count)]
        try:
            self._make()
        except NoWires:
            self.close()
            raise

    def _make(self) -> None:
        for name in (self._switch, *self._places):
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        # Without snooping a bridge passes multicast to all its ports, as a plain switch does.
        switch = ("-n", self._switch, "link")
        _ip(*switch, "add", "br0", "type", "bridge", "mcast_snooping", "0")
        _ip(*switch, "set", "br0", "up")
        for number, place in enumerate(self._places):
            port = f"port{number}"
            _ip(*switch, "add", port, "type", "veth", "peer", "name", INTERFACE, "netns", place)
            _ip(*switch, "set", port, "master", "br0")
            _ip(*switch, "set", port, "up")
            _ip("-n", place, "link", "set", INTERFACE, "up")
            _ip("-n", place, "addr", "add", f"10.98.0.{number + 1}/24", "dev", INTERFACE)

    def at(self, number: int) -> tuple[str, ...]:
        """What stands before the command of a program that runs at that place."""
        return ("ip", "netns", "exec", self._places[number])

    def cut(self, number: int) -> None:
        """Pulls the cable of one program: nothing reaches it, nothing comes from it."""
        self._set(number, "down")

    def mend(self, number: int) -> None:
        self._set(number, "up")

    def close(self) -> None:
        """Harmless when done twice; programs that still run there keep their place until they
        end."""
        for name in (*self._places, self._switch):
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def _set(self, number: int, state: str) -> None:
        _ip("-n", self._switch, "link", "set", f"port{number}", state)


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        raise NoWires(f"Network namespaces are not permitted here: {done.stderr.strip()}.")
