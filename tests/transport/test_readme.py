"""The examples of the page for newcomers run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent.parent / "transport" / "README.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_runs(number: int) -> None:
    exec(compile(EXAMPLES[number], f"example {number + 1}", "exec"), {"__name__": "__main__"})


def test_every_module_is_on_the_page() -> None:
    page = README.read_text(encoding="utf-8")
    modules = {path.name for path in README.parent.glob("*.py")} - {"__init__.py"}
    missing = [name for name in sorted(modules) if f"`{name}`" not in page]
    assert not missing, f"not mentioned: {missing}"
