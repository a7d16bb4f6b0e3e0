"""Owns rows of texts as CSV: read in the form and encoding that they happen to have, within bounds,
and written so that any program reads them.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice

from liveobj.errors import Problem
from liveobj.formulas.values import number_of
from transport.sentences import worded

BYTES_MAX = 64 * 1024 * 1024
_SEPARATORS = ",;\t|"
_LOOKED_AT_ROWS = 50
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class CsvProblem(Problem):
    """What cannot be read as a table; the text is a sentence."""


def decode(data: bytes) -> str:
    """The text of a file: UTF-8 or UTF-16, with or without a mark, or else Latin-1."""
    if len(data) > BYTES_MAX:
        raise CsvProblem(
            worded("The file is larger than {most} MB.", most=BYTES_MAX // 1024 // 1024)
        )
    encodings = [name for bom, name in _BOMS if data.startswith(bom)]
    if not encodings:
        # Every second byte of western text in UTF-16 is zero.
        sample = data[:4000]
        if len(sample) >= 4 and sample.count(0) * 3 > len(sample):
            encodings.append("utf-16-be" if sample[0] == 0 else "utf-16-le")
    for encoding in [*encodings, "utf-8"]:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    if b"\x00" in data[:4000]:
        raise CsvProblem(worded("The file is not a text."))
    return data.decode("latin-1")


def find_separator(text: str) -> str:
    """What stands between the fields: what parts most rows into the same number of fields."""
    best, best_score = ",", 0.0
    for separator in _SEPARATORS:
        try:
            reader = csv.reader(io.StringIO(text[:100_000]), delimiter=separator)
            widths = [len(row) for row in islice(reader, _LOOKED_AT_ROWS) if row]
        except csv.Error:
            continue
        if not widths:
            continue
        usual = max(set(widths), key=widths.count)
        score = widths.count(usual) / len(widths) if usual > 1 else 0
        if score > best_score + 0.05:
            best, best_score = separator, score
    return best


def read_csv(data: bytes, rows_max: int, columns_max: int) -> list[list[str]]:
    """The rows of a file; raises CsvProblem."""
    text = decode(data)
    separator = find_separator(text)
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            if len(row) > columns_max:
                raise CsvProblem(
                    worded("The file has more than {columns_max} columns.", columns_max=columns_max)
                )
            if len(rows) >= rows_max:
                raise CsvProblem(
                    worded("The file has more than {rows_max} rows.", rows_max=rows_max)
                )
            rows.append(row)
    except csv.Error as problem:
        raise CsvProblem(
            worded(
                "Row {number} of the file cannot be read: {reason}.",
                number=len(rows) + 1,
                reason=problem,
            )
        ) from None
    return rows


def write_csv(rows: Iterable[Sequence[str]], separator: str = ",", *, harmless: bool = True) -> str:
    """The rows as text. With `harmless`, texts that another program would take for a formula are
    marked with an apostrophe, as these programs do themselves."""
    lines = []
    for row in rows:
        fields = [_harmless(field) if harmless else field for field in row]
        line = separator.join(_quoted(field) for field in fields)
        lines.append(line or '""')
    return "".join(line + "\r\n" for line in lines)


def _quoted(field: str) -> str:
    if any(character in field for character in ',;\t|"\r\n\x00\x0b\x0c') or field != field.strip():
        return '"' + field.replace('"', '""') + '"'
    return field


def _harmless(field: str) -> str:
    if field[:1] in ("=", "+", "-", "@", "\t", "\r") and number_of(field) is None:
        return "'" + field
    return field
