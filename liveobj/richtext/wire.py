"""Owns content as JSON: between this program and its helpers, and on the clipboard.

What is read may have been made by anybody: it becomes content within the same bounds as a file, or
is refused.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import asdict
from typing import Any

from liveobj.richtext.builder import ContentBuilder
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.model import Content, Image, Paragraph, Part, Run, Table, read_block
from transport.sentences import worded

MIME_TYPE = "application/x-liveobject-richtext+json"
_REFERENCE_BYTES_MAX = 1024 * 1024


def write_json(content: Content) -> bytes:
    return json.dumps([_write(part) for part in content], separators=(",", ":")).encode()


def read_json(data: bytes) -> Content:
    """Raises FileProblem for what is not content."""
    try:
        values = json.loads(data)
        if not isinstance(values, list):
            raise FileProblem(worded("This is not formatted text."))
        builder = ContentBuilder()
        for value in values:
            _read(builder, value)
        return builder.finish()
    except (ValueError, TypeError, KeyError, RecursionError, binascii.Error):
        raise FileProblem(worded("This is not formatted text.")) from None


def _write(part: Part) -> dict[str, Any]:
    if isinstance(part, Paragraph):
        block = {name: value for name, value in asdict(part.block).items() if value}
        return {"runs": _write_runs(part.runs), **({"block": block} if block else {})}
    if isinstance(part, Table):
        rows = [[_write_runs(cell) for cell in row] for row in part.rows]
        return {"rows": rows, "header": part.header}
    if isinstance(part, Image):
        data = base64.b64encode(part.data).decode()
        return {"image": data, "width": part.width, "words": part.words}
    return {"object": base64.b64encode(part.reference).decode(), "title": part.title}


def _write_runs(runs: tuple[Run, ...]) -> list[Any]:
    return [[run.text, dict(run.marks)] if run.marks else [run.text] for run in runs]


def _read(builder: ContentBuilder, value: dict[str, Any]) -> None:
    if "runs" in value:
        builder.begin_paragraph(read_block(dict(value.get("block", {}))))
        _read_runs(builder, value["runs"])
        builder.end_paragraph()
    elif "rows" in value:
        builder.begin_table(header=value.get("header") is True)
        for row in value["rows"]:
            builder.begin_row()
            for cell in row:
                _read_runs(builder, cell)
                builder.end_cell()
        builder.end_table()
    elif "image" in value:
        data = base64.b64decode(value["image"], validate=True)
        builder.image(data, int(value.get("width", 0)), str(value.get("words", "")))
    elif "object" in value:
        reference = base64.b64decode(value["object"], validate=True)
        if len(reference) <= _REFERENCE_BYTES_MAX:
            builder.embedded(reference, str(value.get("title", ""))[:200])


def _read_runs(builder: ContentBuilder, runs: list[Any]) -> None:
    for text, *marks in runs:
        if not isinstance(text, str):
            raise TypeError
        names = dict(marks[0]) if marks else {}
        for name, mark in names.items():
            builder.begin_mark(str(name), mark)
        builder.text(text)
        for name in names:
            builder.end_mark(str(name))
