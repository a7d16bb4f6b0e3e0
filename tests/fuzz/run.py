"""Fuzzes one target with atheris, guided by which lines its inputs reach.

`python -m tests.fuzz.run reference -max_total_time=60 -artifact_prefix=build/fuzz/ CORPUS`: all
after the name are arguments of libFuzzer.
"""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-not-found]

with atheris.instrument_imports(include=["liveobj", "transport", "tests.fuzz"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
