"""Confinement: the code of packages runs in a process of its own, which can do nothing but think
and speak through its objects' endpoints."""

from liveobj.confinement.package import ConfinedPackage
from liveobj.confinement.process import Described

__all__ = ["ConfinedPackage", "Described"]
