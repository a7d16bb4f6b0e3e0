"""`python -m pipeline`, which `live-objects pipeline` starts as a process of its own."""

from __future__ import annotations

import logging
import sys

from pipeline.command_line import main

if __name__ == "__main__":
    # Only the bridge to Java logs here: what it was in the middle of when a run is ended.
    logging.disable()
    sys.exit(main(sys.argv[1:]))
