"""The page about extending the program, followed for a region policy: one file, one line, and all
tests of policies run it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cffi import FFI

from native.build_engine import declarations
from tests.source_tree import ROOT
from transport.binding import enumeration

NATIVE = ROOT / "native"
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
PRINTED, LINE = re.findall(r"^```c\n(.*?)^```", PAGE, flags=re.M | re.S)
# The page calls its policy whole. Somebody may add one of that name, so it has another one here.
FILE, LINE = (
    text.replace("whole", "of_the_page").replace("WHOLE", "OF_THE_PAGE") for text in (PRINTED, LINE)
)
KNOWN = len(enumeration("qsm_policy"))
# What the Makefile gives every program, and what the second one is linked with.
VARIABLES = dict(
    re.findall(
        r"^(\w+)\s*:=\s*(.*)$", (NATIVE / "Makefile").read_text("utf-8").replace("\\\n", " "), re.M
    )
)
LINK = {"test_policy_all": [], "test_policy_memory": VARIABLES["LINK_test_allocations"].split()}


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the policy of the page in it."""
    copy = tmp_path_factory.mktemp("native")
    for name in ("include", "src", "tests"):
        shutil.copytree(NATIVE / name, copy / name)
    (copy / "src/membership/policy_of_the_page.c").write_text(FILE, encoding="utf-8")
    header = copy / "include/qsm.h"
    before = header.read_text(encoding="utf-8")
    marker = next(line for line in before.splitlines() if "A new policy goes above" in line)
    header.write_text(before.replace(marker, f"{LINE}{marker}"), encoding="utf-8")
    return copy


@pytest.mark.parametrize("program", LINK)
def test_the_tests_of_all_policies_run_the_new_one(program: str, native: Path) -> None:
    sources = [*native.glob("src/membership/policy*.c"), *native.glob("src/membership/similar*.c")]
    command = [
        *(
            os.environ.get("CC", "cc"),
            "-std=c17",
            "-O1",
            *VARIABLES["WARNINGS"].split(),
            "-Iinclude",
            "-Isrc",
        ),
        *(f"tests/{program}.c", *map(str, sources), *LINK[program], "-o", program, "-lm"),
    ]
    built = subprocess.run(command, cwd=native, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    run = subprocess.run([native / program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert " 0 failed" in run.stdout
    if program == "test_policy_memory":
        assert f"policy {KNOWN}: " in run.stdout


def test_python_reads_the_new_policy_from_the_header(native: Path) -> None:
    ffi = FFI()
    ffi.cdef(declarations((native / "include/qsm.h").read_text(encoding="utf-8")))
    elements = ffi.typeof("enum qsm_policy").relements
    assert elements == {**enumeration("qsm_policy"), "QSM_POLICY_OF_THE_PAGE": KNOWN}


def test_the_file_of_the_page_is_formatted_as_ours() -> None:
    formatter = Path(sys.executable).parent / "clang-format"
    command = [formatter, "--assume-filename=policy_whole.c"]
    formatted = subprocess.run(
        command, cwd=ROOT, input=PRINTED, capture_output=True, text=True, check=True
    )
    assert formatted.stdout == PRINTED
