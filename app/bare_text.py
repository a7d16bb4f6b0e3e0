"""What a bare text field of Qt does with a long text: the limit to compare one's own with.

    python -m app.bare_text plain 16000

prints, as JSON, how long keys and one paste took, in seconds, and the memory in MB.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

WORDS = "Everybody who has this document sees what is written in it. " * 2
_KEYS = 60


def main(arguments: Sequence[str]) -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtGui import QTextCursor  # noqa: PLC0415  (after the platform is chosen)
    from PySide6.QtTest import QTest  # noqa: PLC0415
    from PySide6.QtWidgets import QApplication, QPlainTextEdit, QTextEdit  # noqa: PLC0415

    kind, paragraphs = arguments[0], int(arguments[1])
    application = QApplication([])
    field = QPlainTextEdit() if kind == "plain" else QTextEdit()
    field.resize(900, 700)
    field.show()
    application.processEvents()
    start_s = time.monotonic()
    field.textCursor().insertText("\n".join([WORDS] * paragraphs))
    application.processEvents()
    paste_s = time.monotonic() - start_s
    field.moveCursor(QTextCursor.MoveOperation.Start)
    application.processEvents()
    keys_s = []
    for number in range(_KEYS):
        start_s = time.monotonic()
        QTest.keyClicks(field, "x" if number % 6 else " ")
        field.viewport().repaint()
        keys_s.append(time.monotonic() - start_s)
        application.processEvents()
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    memory = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))
    sys.stdout.write(json.dumps({"keys_s": keys_s, "paste_s": paste_s, "memory_mb": memory}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
