"""Gathers the words that the program shows into the catalogues of languages, and compiles those.

python installers/languages.py          # what `make languages` runs
python installers/languages.py --check  # says what is missing, changes nothing
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "assets" / "languages"
DOMAIN = "live-objects"
KEYWORDS = {"tr": None, "tr_n": (1, 2), "worded": None, "worded_n": (1, 2)}
# What Python's own parser of command lines says; it looks that up in our catalogue.
PARSER_WORDS = (
    "usage: ",
    "options",
    "positional arguments",
    "show this help message and exit",
    "show program's version number and exit",
    "argument %(argument_name)s: %(message)s",
    "unrecognized arguments: %s",
    "the following arguments are required: %s",
    "expected one argument",
    "expected at least one argument",
    "invalid choice: %(value)r (choose from %(choices)s)",
    "invalid %(type)s value: %(value)r",
    "ignored explicit argument %r",
    "ambiguous option: %(option)s could match %(matches)s",
)
# Without dates and names: the same words always give the same file.
_HEADER = """msgid ""
msgstr ""
"Project-Id-Version: live-objects\\n"
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plurals}\\n"

"""


def gather() -> Catalog:
    """Every text in what `KEYWORDS` names, and what the parser of command lines says."""
    template = Catalog(domain=DOMAIN)
    for words in PARSER_WORDS:
        template.add(words)
    for package in ("app", "liveobj", "transport", "widgets"):
        found = extract_from_dir(ROOT / package, keywords=KEYWORDS, strip_comment_tags=True)
        for _file, _line, message, _comments, _context in found:
            template.add(message)
    return template


def languages() -> list[str]:
    return sorted(path.parents[1].name for path in FOLDER.glob("*/LC_MESSAGES/*.po"))


def po_file(language: str) -> Path:
    return FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read_catalogue(language: str) -> Catalog:
    with po_file(language).open("rb") as file:
        return read_po(file, locale=language)


def missing(catalogue: Catalog, template: Catalog) -> list[str]:
    """The texts that the catalogue does not translate."""
    return [
        str(message.id) for message in template if message.id and not _done(catalogue, message.id)
    ]


def _done(catalogue: Catalog, identity: object) -> bool:
    known = catalogue.get(identity)  # type: ignore[arg-type]
    if known is None or known.fuzzy:
        return False
    words = known.string if isinstance(known.string, tuple | list) else (known.string,)
    return all(words)


def update(language: str, template: Catalog) -> Catalog:
    """Takes new texts over and old ones out; writes the catalogue and its compiled form."""
    catalogue = read_catalogue(language)
    catalogue.update(template, no_fuzzy_matching=True)
    body = BytesIO()
    write_po(
        body,
        catalogue,
        width=100,
        no_location=True,
        omit_header=True,
        sort_output=True,
        ignore_obsolete=True,
    )
    header = _HEADER.format(language=language, plurals=catalogue.plural_forms)
    po_file(language).write_bytes(header.encode() + body.getvalue())
    with po_file(language).with_suffix(".mo").open("wb") as file:
        write_mo(file, read_catalogue(language))
    return catalogue


def main(arguments: list[str]) -> int:
    """Exit code 1 while something is not translated."""
    template = gather()
    left = 0
    for language in languages():
        check = "--check" in arguments
        catalogue = read_catalogue(language) if check else update(language, template)
        lacking = missing(catalogue, template)
        left += len(lacking)
        for text in lacking:
            print(f"{language}: {text!r} is not translated")
        print(f"{language}: {len(template) - len(lacking)} of {len(template)} texts")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
