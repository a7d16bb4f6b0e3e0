"""Owns where an engine is opened when nobody has said where, and how it is used there: what to do
on a computer that has no interface which is made for multicast, or only a slow one.

Among those that are, the system's routes decide, which the engine asks. It does not look at others:
alone it would stay on the loopback interface, while the office can be reached by unicast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transport.config import EngineConfig
from transport.links import Kind, Link, best_link


def fit_interface(config: EngineConfig, links: Sequence[Link]) -> EngineConfig:
    """The configuration with an interface for unicast, where only such a one leads outside."""
    outside = [link for link in links if link.usable and link.kind is not Kind.LOOPBACK]
    if config.interface or config.ipv6 or any(link.multicast for link in outside):
        return config
    best = best_link(outside)
    return config if best is None else replace(config, interface=best.name, multicast=False)


def prefers_unicast(config: EngineConfig, interface: str, links: Sequence[Link]) -> bool:
    """Whether multicast is a burden where the engine is: a radio sends it at the lowest rate, and
    nobody says that it has not come."""
    if config.prefers_unicast is not None:
        return config.prefers_unicast
    return any(link.name == interface and link.kind is Kind.WIRELESS for link in links)
