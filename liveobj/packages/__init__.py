"""Packages of components that can be downloaded: signed, checked, asked about, then imported."""

from liveobj.packages.building import build_package
from liveobj.packages.errors import PackageProblem
from liveobj.packages.manifest import Manifest
from liveobj.packages.reading import Package, read_package
from liveobj.packages.trust import Question, Trust

__all__ = [
    "Manifest",
    "Package",
    "PackageProblem",
    "Question",
    "Trust",
    "build_package",
    "read_package",
]
