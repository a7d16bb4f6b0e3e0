"""The pages for newcomers tell the truth: links lead somewhere, named targets of make exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.source_tree import ROOT, files, shown

PAGES = list(files(".md"))
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
# `make TARGET` at the start of a line of code, or of a piece of code within a line.
MAKE = re.compile(r"(?:^    |`)make ([a-z][\w-]*)", flags=re.M)


def heading_names(page: Path) -> set[str]:
    """The names by which headings of a page are linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    """What the page links to and is not there."""
    broken = []
    for pair in LINK.findall(page.read_text(encoding="utf-8")):
        link = pair[0] or pair[1]
        if re.match(r"https?:", link):
            continue
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (heading and heading not in heading_names(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_somewhere(page: Path) -> None:
    assert not broken_links(page)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_make_has_the_targets_that_are_named(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][\w-]*):", makefile, flags=re.M))
    assert set(MAKE.findall(page.read_text(encoding="utf-8"))) <= targets


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_tests_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text)
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (ROOT / file).is_file()
        or f"def {name}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]
    missing += [
        file for file in re.findall(r"`(native/tests/\w+\.c)`", text) if not (ROOT / file).is_file()
    ]
    assert not missing


def test_a_broken_link_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading\n[good](#a-heading) [bad](#none) [gone](gone.md)", encoding="utf-8"
    )
    assert broken_links(page) == ["#none", "gone.md"]
