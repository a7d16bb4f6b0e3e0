"""`python -m pipeline`, which `live-objects pipeline` starts as a process of its own."""

from __future__ import annotations

import sys

from pipeline.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
