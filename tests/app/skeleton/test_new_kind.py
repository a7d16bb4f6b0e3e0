"""`live-objects new-kind`: what it writes is complete at once; what is refused changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.main import main
from app.skeleton.kind_names import SENTENCE_CHARACTERS_MAX, WORD_CHARACTERS_MAX
from app.skeleton.registering import NotRegistrable, with_entry, with_import
from tests.source_tree import ROOT

# The shortest and the longest word: lines must fit, and imports be sorted, with every name.
WORDS = ("aa", "tea-round", "z" * WORD_CHARACTERS_MAX)
WORD = "tea-round"


def copy_checkout(target: Path) -> Path:
    """What a new kind is written into and run with; what it only reads is linked."""
    unwanted = shutil.ignore_patterns("__pycache__", "pictures")
    for name in ("app", "assets", "liveobj", "tests", "widgets"):
        shutil.copytree(ROOT / name, target / name, ignore=unwanted)
    for name in ("native", "transport", "installers", "pyproject.toml"):
        (target / name).symlink_to(ROOT / name)
    return target


def content(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else b""
        for path in root.rglob("*")
    }


def start(checkout: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_new_kind_passes_lint_its_own_test_and_the_registry_at_once(tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    for word in WORDS:
        sentence = "x" * SENTENCE_CHARACTERS_MAX
        command = start(checkout, "app.main", "new-kind", word, "--sentence", sentence)
        said, _ = command.communicate(timeout=120)
        assert command.returncode == 0, said
        assert f"live-objects gallery {word}" in said
    module = WORD.replace("-", "_")
    checks = [
        start(checkout, "ruff", "check", "--no-cache", "."),
        start(checkout, "ruff", "format", "--no-cache", "--check", "."),
        start(
            *(checkout, "mypy", "--cache-dir", str(tmp_path / "mypy"), "-p", f"widgets.{module}"),
            *("-m", f"liveobj.objects.{module}", "-m", f"app.samples.{module}"),
        ),
        start(
            *(checkout, "pytest", "-q", "-p", "no:cacheprovider", "tests/test_registration.py"),
            *(f"tests/widgets/{module}", "tests/app/test_gallery_samples.py"),
            *("tests/app/test_accessibility.py", "tests/app/test_narrow.py"),
            *("-k", f"registration or {module} or {WORD}"),
        ),
    ]
    found = [f"{check.args}\n{check.communicate(timeout=170)[0]}" for check in checks]
    assert [check.returncode for check in checks] == [0] * len(checks), "\n".join(found)


# Refusals


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As much of a checkout as the command itself looks at."""
    root = tmp_path_factory.mktemp("checkout")
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in ("app/skeleton", "app/samples", "liveobj/objects", "assets/objects"):
        shutil.copytree(ROOT / name, root / name, ignore=unwanted)
    (root / "assets/icons").mkdir()
    (root / "assets/icons/box.svg").touch()
    (root / "widgets").mkdir()
    for name in ("kinds.py", "animation.py"):
        shutil.copy(ROOT / "widgets" / name, root / "widgets" / name)
    (root / "tests/widgets").mkdir(parents=True)
    return root


def refused(checkout: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said about a command that must change nothing."""
    before = content(checkout)
    assert main(["new-kind", *arguments, "--checkout", str(checkout)]) == 2
    assert content(checkout) == before
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


@pytest.mark.parametrize(
    "word",
    [
        *("", "x", "x2", "2do", "Todo", "tea_round", "tea round", "tea--round", "tea-", "thé"),
        *("../tea", "z" * (WORD_CHARACTERS_MAX + 1)),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(
    word: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(checkout, capsys, word)
    assert f"{word!r} cannot be the name of a kind" in said
    assert "such as todo-list" in said


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["class"], "'class' is a word of Python"),
        (["chart"], "'live-objects:chart' stands in liveobj/objects/chart.py already"),
        (["chart", "--id", "example.com:x"], "liveobj/objects/chart.py exists already"),
        (["counter", "--id", "example.com:x"], "has a kind 'counter' or a class CounterObject"),
        (["standard"], "or a class StandardObject already"),
        (["animation"], "widgets/animation.py exists already"),
        (["object"], "assets/objects/object.svg exists already"),
        (["list"], "would be called List, which exists"),
        (["exception"], "would be called Exception, which exists"),
        (["drawing"], "app/samples/drawing.py exists already"),
        (["tea", "--id", "tea"], "'tea' cannot be an id"),
        (["tea", "--id", "live-objects:chart"], "Choose another one"),
        (["tea", "--icon", "no-such"], "There is no icon 'no-such'"),
        (["tea", "--icon", "../../x"], "'../../x' is not the name of an icon"),
        (["tea", "--title", 'The "tea"'], "The title 'The \"tea\"' cannot be used"),
        (["tea", "--title", "x" * 41], "at most 40 characters"),
        (["tea", "--sentence", "a\nb"], "The sentence 'a\\nb' cannot be used"),
        (["tea", "--sentence", "{tea}"], "cannot be used"),
        (["tea", "--sentence", "It is tea."], "and a full stop"),
    ],
)
def test_what_is_taken_or_cannot_be_is_refused_in_a_sentence(
    arguments: list[str], part: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert part in refused(checkout, capsys, *arguments)


def test_a_folder_that_is_no_checkout_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "is not a checkout of Live Objects" in refused(tmp_path, capsys, "tea")


def test_a_catalogue_of_another_shape_is_refused(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(checkout, other)
    (other / "widgets/kinds.py").write_text("from widgets import note_view\nKINDS = all()\n")
    assert "No line can be added to" in refused(other, capsys, "tea")


def test_when_the_disk_refuses_all_is_as_before(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(checkout, other)
    (other / "tests/widgets").rmdir()  # the test, which is written last, has no place
    assert "Nothing was written: No such file or directory" in refused(other, capsys, "tea")


# Lines in lists


def test_an_import_is_sorted_among_those_of_its_package() -> None:
    source = "from a import b\nfrom w import (\n    x,\n)\nfrom w.m import n\n\nLIST = [x]\n"
    first = "from a import b\nfrom w import (\n    x,\n)\nfrom w.b import c\nfrom w.m import n\n"
    assert with_import(source, "w.b", "c").startswith(first)
    last = "from w.m import n\nfrom w.z import c\n\nLIST"
    assert last in with_import(source, "w.z", "c")
    with pytest.raises(NotRegistrable, match="no import from q"):
        with_import(source, "q.z", "c")


def test_an_entry_goes_to_the_end_of_a_list_or_of_what_a_class_is_made_of() -> None:
    assert with_entry("A: T = (\n    x,\n)\n", "A", "y(1)") == "A: T = (\n    x,\n    y(1),\n)\n"
    made = "A = Kinds(\n    [\n        x,\n    ]\n)\n"
    assert with_entry(made, "A", "y") == "A = Kinds(\n    [\n        x,\n        y,\n    ]\n)\n"
    for source in ("B = [\n    x,\n]\n", "A = []\n", "A = 5\n", "A: int\n"):
        with pytest.raises(NotRegistrable, match="no list A"):
            with_entry(source, "A", "y")
    with pytest.raises(NotRegistrable, match="a mistake in line 1"):
        with_entry("A = [", "A", "y")
