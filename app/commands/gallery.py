"""`live-objects gallery [KIND …]`: every kind of object on a simulated network, to look at."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from app.command_line import window_size
from app.display import display_problem
from app.errors import StartProblem
from widgets.language import tr
from widgets.roles import Mode


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("kinds", metavar="KIND", nargs="*", help=tr("only these (all if none is given)"))
    add("--theme", choices=[mode.value for mode in Mode], default=Mode.LIGHT.value)
    add(
        "--scale",
        type=float,
        choices=[1, 1.25, 1.5, 2, 3],
        default=1,
        help=tr("pixels for each point"),
    )
    add("--size", metavar="WxH", type=window_size, help=tr("of the windows, in points"))
    add("--pictures", metavar="DIR", type=Path, help=tr("write a picture of each, and end"))


def run(arguments: argparse.Namespace) -> int:
    if problem := display_problem(os.environ):
        raise StartProblem(problem)
    # Qt reads it once, when it begins.
    os.environ["QT_SCALE_FACTOR"] = str(arguments.scale)
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    gallery_module = import_module("app.gallery")
    kinds = {kind.word: kind for kind in gallery_module.KINDS}
    unknown = [word for word in arguments.kinds if word not in kinds]
    if unknown:
        raise StartProblem(
            tr("{given} is not one of {kinds}.", given=repr(unknown[0]), kinds=", ".join(kinds))
        )
    chosen = [kinds[word] for word in arguments.kinds or kinds]
    application = QApplication(["live-objects"])
    gallery = gallery_module.Gallery(application, Mode(arguments.theme), arguments.size)
    try:
        if arguments.pictures is None:
            gallery.show(chosen)
            gallery.run()
        else:
            ending = f"{arguments.theme}-{arguments.scale:g}x"
            for file in gallery.take_pictures(chosen, arguments.pictures, ending):
                sys.stdout.write(f"{file}\n")
    finally:
        gallery.close()
    return 0
