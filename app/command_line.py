"""The command line: what may be written there, and one clear sentence for whatever else is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from app.commands import COMMANDS
from app.commands.arguments import add_state_dir
from app.errors import StartProblem
from app.network_wishes import NetworkWishes, add_wishes
from app.version import VERSION
from widgets.language import tr
from widgets.roles import PERSON_COLOURS, Mode, is_colour

PROGRAM = "live-objects"
_NAME_CHARACTERS_MAX = 100


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, instead of usage and a fragment."""

    def error(self, message: str) -> NoReturn:
        sentence = message[:1].upper() + message[1:].rstrip(".")
        raise StartProblem(
            tr("{sentence}: see {program} --help.", sentence=sentence, program=self.prog)
        )


@dataclass(frozen=True, slots=True)
class Options:
    """What the window program was started with."""

    files: tuple[Path, ...]
    network: NetworkWishes
    state_dir: Path | None
    name: str | None
    colour: str | None
    screenshot: Path | None
    theme: Mode | None
    size: tuple[int, int] | None
    live: bool
    no_restore: bool
    driven: bool


def parse(arguments: Sequence[str]) -> Options:
    """The options of the window program; raises StartProblem, or exits for --help and --version."""
    parsed = _window_parser().parse_args(arguments)
    return Options(
        files=tuple(parsed.files),
        network=NetworkWishes.of(parsed),
        state_dir=parsed.state_dir,
        name=parsed.name,
        colour=parsed.colour,
        screenshot=parsed.screenshot,
        theme=parsed.theme,
        size=parsed.size,
        live=parsed.live,
        no_restore=parsed.no_restore,
        driven=parsed.driven,
    )


def run_command(name: str, arguments: Sequence[str]) -> int:
    """Runs a registered command; raises StartProblem."""
    entry = COMMANDS[name]
    module = entry.load()
    parser = _Parser(prog=f"{PROGRAM} {name}", description=f"{entry.summary().capitalize()}.")
    module.add_arguments(parser)
    return module.run(parser.parse_args(arguments))


def _window_parser() -> argparse.ArgumentParser:
    commands = "\n".join(f"  {entry.name:<10}{entry.summary()}" for entry in COMMANDS.values())
    parser = _Parser(
        prog=PROGRAM,
        usage=tr("{program} [FILE …] [OPTIONS]\n       {program} COMMAND …", program=PROGRAM),
        description=tr(
            "Opens live objects: notes that several people write together, with no server."
        ),
        epilog=tr("commands ({program} COMMAND --help tells more):", program=PROGRAM)
        + f"\n{commands}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("files", metavar="FILE", nargs="*", type=Path, help=tr(".liveobject files to open"))
    add_wishes(parser)
    add_state_dir(parser)
    add("--name", type=_name, help=tr("the name that others see"))
    add("--colour", metavar="C", type=_colour, help=tr("your colour: #rrggbb or a name"))
    add("--screenshot", metavar="FILE", type=Path, help=tr("write a picture of the window and end"))
    add(
        "--size",
        metavar="WxH",
        type=window_size,
        help=tr("the window's width and height, in pixels"),
    )
    add("--theme", metavar="T", type=_theme, help=tr("light, dark or system"))
    add(
        "--live", action="store_true", help=tr("open the files without a preview: they are trusted")
    )
    add("--no-restore", action="store_true", help=tr("do not open again what was open"))
    # For soaks and benches: other programs of this user may edit and look inside.
    add("--driven", action="store_true", help=argparse.SUPPRESS)
    add("--version", action="version", version=f"{PROGRAM} {VERSION}")
    return parser


def _name(text: str) -> str:
    if not text.strip() or len(text) > _NAME_CHARACTERS_MAX:
        raise argparse.ArgumentTypeError(
            tr("a name has 1 to {most} characters", most=_NAME_CHARACTERS_MAX)
        )
    return text.strip()


def _colour(text: str) -> str:
    for colour in PERSON_COLOURS:
        if text.casefold() == colour.name:
            return colour.light
    if is_colour(text):
        return text
    names = ", ".join(colour.name for colour in PERSON_COLOURS)
    raise argparse.ArgumentTypeError(
        tr("{given} is neither like #1a2b3c nor one of {names}", given=repr(text), names=names)
    )


def window_size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and text.isascii() and len(text) < 12):
        raise argparse.ArgumentTypeError(
            tr("{given} is not a size like 1000x700", given=repr(text))
        )
    return int(width), int(height)


def _theme(text: str) -> Mode:
    try:
        return Mode(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            tr("{given} is not light, dark or system", given=repr(text))
        ) from None
