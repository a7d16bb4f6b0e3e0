"""Formatted text on its way over the clipboard and by drag and drop, to and from other programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QMimeData
from PySide6.QtGui import QImage

from liveobj.references import Reference, write_reference
from liveobj.richtext.errors import FileProblem
from liveobj.richtext.files import ENDINGS
from liveobj.richtext.html_reader import read_html
from liveobj.richtext.html_writer import write_fragment
from liveobj.richtext.model import Content, Embedded, Image, Paragraph, Run, plain_text
from liveobj.richtext.wire import MIME_TYPE, read_json, write_json
from widgets.document.images import image_of, make_image, usable_part
from widgets.drag import may_hold_references, read_drag
from widgets.language import tr

# More than this is pasted as plain text, as reading it would be felt.
_HTML_CHARACTERS_MAX = 2_000_000
# What is longer is read beside the window.
_LONG_BYTES = 50_000
JSON, HTML, TEXT = "json", "html", "text"
_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
_IMAGE_FILE_BYTES_MAX = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture with its name; `make` gives it small enough to be sent, or None if it is none. It
    may be called in any thread."""

    name: str
    make: Callable[[], Image | None]


@dataclass(frozen=True, slots=True)
class Taken:
    """What was found: content to be put in, files to be read by somebody else, sentences about
    what could not be taken, and pictures that take their time and are to be made in a thread."""

    content: Content = ()
    files: tuple[Path, ...] = ()
    problems: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()


def fill_mime(mime: QMimeData, content: Content) -> None:
    """For this program, for word processors, and for everything else."""
    mime.setData(MIME_TYPE, QByteArray(write_json(content)))
    mime.setHtml(write_fragment(content))
    mime.setText(plain_text(content).replace("\u2028", "\n"))


def take(mime: QMimeData, title_of: Callable[[Reference], str]) -> Taken:
    """Reads what is offered, in the best form there is. It may have been made by anybody."""
    try:
        if mime.hasFormat(MIME_TYPE):
            return Taken(_usable(read_json(bytes(mime.data(MIME_TYPE).data()))))
    except FileProblem:
        pass
    if may_hold_references(mime):
        found = read_drag(mime)
        if found.references or found.problems:
            objects = (Embedded(write_reference(r), title_of(r)) for r in found.references)
            return Taken(tuple(objects), (), found.problems)
    files = [Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile()]
    if files:
        return _take_files(files)
    if mime.hasHtml() and len(mime.html()) <= _HTML_CHARACTERS_MAX:
        try:
            content = _usable(read_html(mime.html()))
        except FileProblem:
            content = ()
        if content:
            return Taken(content)
    if mime.hasImage():
        picture = mime.imageData()
        if isinstance(picture, QImage) and not picture.isNull():
            return Taken(pictures=(Picture(tr("The picture"), partial(image_of, picture.copy())),))
    return Taken(plain_paragraphs(mime.text()))


def long_form(mime: QMimeData) -> tuple[str, bytes] | None:
    """Content that is too long to be read while the window waits: how it is written, and itself.
    None where there is none; `take` reads that."""
    if mime.hasFormat(MIME_TYPE):
        data = bytes(mime.data(MIME_TYPE).data())
        return (JSON, data) if len(data) > _LONG_BYTES else None
    if may_hold_references(mime) or mime.urls():
        return None
    html = mime.html() if mime.hasHtml() else ""
    if html and len(html) <= _HTML_CHARACTERS_MAX:
        return (HTML, html.encode("utf-8", "replace")) if len(html) > _LONG_BYTES else None
    text = "" if mime.hasImage() else mime.text()
    return (TEXT, text.encode("utf-8", "replace")) if len(text) > _LONG_BYTES else None


def plain_paragraphs(text: str) -> Content:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2029", "\n").split("\n")
    return tuple(Paragraph((Run(line),) if line else ()) for line in lines) if text else ()


def _take_files(files: list[Path]) -> Taken:
    pictures: list[Picture] = []
    problems: list[str] = []
    documents: list[Path] = []
    for file in files[:50]:
        ending = file.suffix.lower()
        if ending in _IMAGE_ENDINGS:
            pictures.append(picture_in(file))
        elif ending in ENDINGS:
            documents.append(file)
        else:
            problems.append(f"{file.name} is not something that a document can take in.")
    return Taken((), tuple(documents), tuple(problems), tuple(pictures))


def picture_in(file: Path) -> Picture:
    return Picture(file.name, partial(read_image_file, file))


def read_image_file(file: Path) -> Image | None:
    """The image in a file, small enough to be sent; None if it is none, or too large."""
    try:
        if file.stat().st_size > _IMAGE_FILE_BYTES_MAX:
            return None
        return make_image(file.read_bytes(), file.stem)
    except OSError:
        return None


def _usable(content: Content) -> Content:
    """Images as they can be sent; those that cannot be read are left out."""
    parts = (usable_part(part) for part in content)
    return tuple(part for part in parts if part is not None)
