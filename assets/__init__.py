"""Where the files of the program's look are: fonts, icons, object pictures; knows paths, not Qt."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent


def font_files() -> list[Path]:
    """Every font that the program brings along."""
    return sorted((ROOT / "fonts").glob("*.ttf"))


def icon_file(name: str) -> Path:
    """The line icon of that name (one stroke colour, `currentColor`)."""
    return ROOT / "icons" / f"{name}.svg"


def picture_file(name: str) -> Path:
    """The drawing of an object kind or an empty state; its colours are names of theme roles."""
    return ROOT / "objects" / f"{name}.svg"


def languages_folder() -> Path:
    """Where the catalogues of translated words are, in gettext's arrangement."""
    return ROOT / "languages"
