"""`live-objects new-kind NAME`: writes a new kind of object into a checkout, for developers: its
object, view, sample, drawing and test, and the two lines that register them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.skeleton.kind_names import name_kind
from app.skeleton.writing import plan_kind
from widgets.language import tr


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("name", metavar="NAME", help=tr("one word in small letters, or several with hyphens"))
    add("--title", default="", help=tr("its name on the screen"))
    add("--sentence", default="", help=tr("what it is for, in one line"))
    add("--id", default="", help=tr("its permanent id in files, such as example.com:todo-list"))
    add("--icon", default="box", help=tr("a line icon in assets/icons"))
    add(
        "--checkout",
        metavar="DIR",
        type=Path,
        default=Path(),
        help=tr("the source folder (where you are if not given)"),
    )


def run(arguments: argparse.Namespace) -> int:
    names = name_kind(
        arguments.name, arguments.title, arguments.sentence, arguments.id, arguments.icon
    )
    writing = plan_kind(arguments.checkout, names)
    writing.write()
    for name in writing.new:
        sys.stdout.write(tr("wrote {file}", file=name) + "\n")
    for name in writing.changed:
        sys.stdout.write(tr("added a line to {file}", file=name) + "\n")
    test = f"pytest tests/widgets/{names.module} tests/test_registration.py"
    steps = (f"live-objects gallery {names.word}", test, "make languages")
    sys.stdout.write(tr("Next: {steps}", steps="; ".join(steps)) + "\n")
    return 0
