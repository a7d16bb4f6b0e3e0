"""The start of the program, told in its order: what is asked for, whether it can be, then begin.

What is wrong is told where it is read: in the terminal, or in a window where there is none, as
after a double click.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from app.command_line import PROGRAM, Options, parse, run_command
from app.commands import COMMANDS
from app.display import display_problem, is_seen
from app.errors import EXIT_BAD_INPUT, EXIT_INTERRUPTED, EXIT_UNREAD, StartProblem
from app.instance_client import ask
from app.paths import find_paths
from app.settings import load_settings
from liveobj.references import ReferenceProblem, read_reference_file
from transport.whole_file import private_files
from widgets.language import set_language, tr, wanted_languages


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program; bad input is one sentence and exit code 2. What it makes is its user's
    alone, but for what they save for themselves."""
    with private_files():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    windowed = False
    set_language(*wanted_languages("", os.environ))
    try:
        if given and given[0] in COMMANDS:
            return _run_command(given[0], given[1:])
        options = parse(given)
        windowed = _tells_in_window(options)
        return _run_window(options, windowed)
    except StartProblem as problem:
        if sys.stderr is not None:  # a program without a console has none
            sys.stderr.write(f"{PROGRAM}: {problem}\n")
        if windowed:
            import_module("app.start_failure").tell(str(problem))
        return EXIT_BAD_INPUT


def _run_command(name: str, arguments: Sequence[str]) -> int:
    """A command in a terminal: whoever stops it, or stops reading what it says, needs no word."""
    try:
        result = run_command(name, arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_UNREAD
    return result


def _tells_in_window(options: Options) -> bool:
    """Whether somebody sits at a screen, and at no terminal."""
    asked_by_person = options.screenshot is None and not options.driven
    in_terminal = sys.stderr is not None and sys.stderr.isatty()
    return asked_by_person and not in_terminal and is_seen(os.environ)


def _run_window(options: Options, windowed: bool) -> int:
    # 1. The input: everything must be readable, and writable, before anything is started. Where
    #    there is a window to tell it in, one broken file keeps nobody from the others.
    for file in () if windowed else options.files:
        _check_reference(file)
    if options.screenshot is not None and not options.screenshot.absolute().parent.is_dir():
        raise StartProblem(
            tr("{file} cannot be written: its folder does not exist.", file=options.screenshot)
        )

    # 2. The place. A program that runs there already takes the files, and this one is done.
    paths = find_paths(os.environ, options.state_dir)
    if _hand_over(options, paths.socket):
        return 0

    # 3. The screen. Qt would abort without one, so it is looked for first.
    if problem := display_problem(os.environ):
        raise StartProblem(problem)
    paths.make()

    # 4. The language that was chosen, before anything that has words is loaded.
    set_language(*wanted_languages(load_settings(paths.settings).language, os.environ))

    # 5. The program itself. Only now is Qt loaded: help, errors and hand-over stay quick.
    try:
        program = import_module("app.program")
    except ModuleNotFoundError as error:
        if error.name != "native._engine":
            raise
        raise StartProblem(
            tr("The engine has not been built: run make in the source folder.")
        ) from None
    result: int = program.run(options, paths)
    return result


def _hand_over(options: Options, socket: Path) -> bool:
    if options.network.peers:
        peers = [[peer.address, peer.port] for peer in options.network.peers]
        answer = ask(socket, {"do": "connect", "peers": peers})
        if answer is not None and answer.get("error"):
            raise StartProblem(str(answer["error"]))
    files = [str(file.absolute()) for file in options.files]
    answer = ask(socket, {"do": "open", "files": files, "live": options.live})
    if answer is not None and options.screenshot is not None:
        answer = ask(socket, {"do": "picture", "file": str(options.screenshot.absolute())})
    if answer is not None and answer.get("error"):
        raise StartProblem(
            tr("The running program does not take it over: {problem}", problem=answer["error"])
        )
    return answer is not None


def _check_reference(file: Path) -> None:
    try:
        read_reference_file(file)
    except ReferenceProblem as problem:
        named = problem if problem.file else problem.in_file(str(file))
        raise StartProblem(str(named)) from None


if __name__ == "__main__":
    sys.exit(main())
