"""Every colour of the program, by role: light, dark, and the twelve colours of people.

The only file with colour literals. Nothing here depends on Qt; `theme.py` turns roles into palettes
and style sheets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Mode(StrEnum):
    """Which theme the user wants."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Roles:
    """One theme: what each colour is for, as `#RRGGBB`."""

    surface: str  # the window behind everything
    raised: str  # what one works on: the page, cards, menus
    sunken: str  # fields, tracks, the strip behind tabs
    hover: str  # under the pointer
    text: str
    muted: str  # secondary text and quiet icons
    accent: str  # what can be pressed, what is live
    accent_hover: str
    on_accent: str  # text on accent
    good: str
    warning: str
    danger: str
    selection: str
    border: str  # hairlines
    shadow: str  # under what floats
    note_paper: str  # drawings of notes
    note_fold: str
    note_ink: str
    note_live: str
    note_shade: str
    mark_yellow: str  # grounds of highlighted text
    mark_green: str
    mark_blue: str
    mark_pink: str
    mark_orange: str


LIGHT = Roles(
    surface="#F5F8F7",
    raised="#FFFFFF",
    sunken="#EBEFEE",
    hover="#E4EAE8",
    text="#15211F",
    muted="#546360",
    accent="#0A716A",
    accent_hover="#085C57",
    on_accent="#FFFFFF",
    good="#1A7340",
    warning="#8A5200",
    danger="#B3261E",
    selection="#C9E8E4",
    border="#DAE2E0",
    shadow="#0C1F1D",
    note_paper="#FFFFFF",
    note_fold="#FFE39A",
    note_ink="#24403D",
    note_live="#0B8D83",
    note_shade="#E2EBE9",
    mark_yellow="#FFF0A8",
    mark_green="#CDEFCB",
    mark_blue="#CFE6FA",
    mark_pink="#FBD7E6",
    mark_orange="#FFDDBB",
)

DARK = Roles(
    surface="#141A19",
    raised="#1B2322",
    sunken="#101514",
    hover="#263130",
    text="#E6EEEC",
    muted="#9BABA7",
    accent="#3CC7BA",
    accent_hover="#63D8CD",
    on_accent="#04201D",
    good="#5FD08B",
    warning="#EFB252",
    danger="#FF8F85",
    selection="#1D4A46",
    border="#2A3533",
    shadow="#000000",
    note_paper="#25302E",
    note_fold="#5A4A1E",
    note_ink="#C5D6D2",
    note_live="#3CC7BA",
    note_shade="#0F1413",
    mark_yellow="#4F4510",
    mark_green="#1F4A2A",
    mark_blue="#1D4059",
    mark_pink="#552840",
    mark_orange="#583716",
)


@dataclass(frozen=True, slots=True)
class PersonColour:
    """A colour that someone goes by. `light` is what travels to the others; each screen then shows
    the tone that can be read on its own theme."""

    name: str
    light: str
    dark: str


PERSON_COLOURS: tuple[PersonColour, ...] = (
    PersonColour("raspberry", "#C1277A", "#DB9CBD"),
    PersonColour("ocean", "#006892", "#7DDAFE"),
    PersonColour("amber", "#985E01", "#BB8914"),
    PersonColour("violet", "#471BFE", "#A3A8FF"),
    PersonColour("fern", "#467549", "#B1F71E"),
    PersonColour("wine", "#5F242D", "#C37F80"),
    PersonColour("teal", "#05726E", "#6FFAE0"),
    PersonColour("chestnut", "#864D0B", "#DF9B73"),
    PersonColour("cobalt", "#051EB1", "#5D8CFF"),
    PersonColour("olive", "#464700", "#DEBA00"),
    PersonColour("plum", "#532558", "#C179C2"),
    PersonColour("pine", "#156343", "#79EA90"),
)


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of `#rrggbb`; ValueError for anything else."""
    if len(colour) != 7 or colour[0] != "#":
        raise ValueError(f"{colour!r} is not a colour like #1a2b3c")
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def is_colour(text: str) -> bool:
    try:
        channels(text)
    except ValueError:
        return False
    return True


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it, from 0 (black) to 1 (white)."""

    def linear(channel: int) -> float:
        value = channel / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(channel) for channel in channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio as WCAG 2 defines it, from 1 (same) to 21 (black on white)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def nearest_person_colour(colour: str) -> PersonColour:
    """The person colour most like what a peer sent, which may be any colour or none at all."""
    try:
        wanted = channels(colour)
    except ValueError:
        return PERSON_COLOURS[0]

    def distance(candidate: PersonColour) -> int:
        return sum((a - b) ** 2 for a, b in zip(channels(candidate.light), wanted, strict=True))

    return min(PERSON_COLOURS, key=distance)


def person_colour_for(name: str) -> PersonColour:
    """The colour that a name gets while its owner has not chosen one: the same at every start."""
    return PERSON_COLOURS[sum(name.encode()) % len(PERSON_COLOURS)]
