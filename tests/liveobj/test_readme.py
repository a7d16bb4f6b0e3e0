"""What the README shows is true: its object and its test are run as they stand there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

from liveobj.declare import DECLARATIONS
from tests.source_tree import ROOT

README = (ROOT / "liveobj" / "README.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    section = README.split("## Your own object in thirty lines")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, flags=re.S)


def test_the_object_of_the_readme_works_and_is_as_short_as_it_says(tmp_path: Path) -> None:
    code, test = blocks()
    assert len([line for line in code.splitlines() if line.strip()]) <= 30
    module = ModuleType("bell_of_the_readme")
    sys.modules[module.__name__] = module
    exec(compile(code, "bell.py", "exec", dont_inherit=True), module.__dict__)
    preamble = (
        "import random\n"
        "from liveobj.declare import Dual\n"
        "from liveobj.objects.group_objects import new_group_object\n"
        "from tests.liveobj.objects.replicas import Replicas\n"
    )
    exec(compile(preamble + test, "test_bell.py", "exec", dont_inherit=True), module.__dict__)
    try:
        module.__dict__["test_a_bell_is_heard_on_every_desk"](tmp_path)
    finally:
        del sys.modules[module.__name__]
        DECLARATIONS._by_id.pop("example.com:bell")


def test_the_map_of_folders_is_complete() -> None:
    folders = {p.name for p in (ROOT / "liveobj").iterdir() if (p / "__init__.py").exists()}
    listed = set(re.findall(r"^\| `(\w+)/` \|", README, flags=re.M))
    assert folders == listed
