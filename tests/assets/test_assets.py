"""The files of the program's look: present, readable, drawable in any theme, and licensed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import assets

DRAWINGS = sorted(assets.ROOT.rglob("*.svg"))


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.stem)
def test_drawing_is_well_formed_and_needs_no_other_file(drawing: Path) -> None:
    root = ElementTree.parse(drawing).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox")
    assert "href" not in drawing.read_text(encoding="utf-8")


def test_icons_and_pictures_are_found_by_name() -> None:
    assert assets.icon_file("application").is_file()
    assert assets.picture_file("note").is_file()


def test_every_font_has_its_licence_beside_it() -> None:
    fonts = assets.font_files()
    assert fonts
    for font in fonts:
        assert font.read_bytes()[:4] == b"\x00\x01\x00\x00", "not a TrueType file"
        family = font.stem.partition("-")[0]
        assert font.with_name(f"{family}-OFL.txt").is_file()
