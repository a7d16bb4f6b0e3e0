"""A document that two people write: headings, a list, a table and an image."""

from __future__ import annotations

from app.samples.drawing import terrace_png
from app.samples.sample import Sample, Shown
from liveobj.objects.rich_document import RichDocument
from liveobj.richtext.markdown_reader import read_markdown
from liveobj.richtext.model import Image
from widgets.document.document_view import DocumentView
from widgets.object_view import ObjectView

TITLE = "Terrace, Friday"
_IMAGE_WIDTH_PX = 250
_OPENING = """# Lunch on the terrace

We meet on **Friday at noon**. Whoever comes early helps with the tables.

## Still to do

- [x] Ask for the terrace
- [ ] Carry the big table down

## Who brings what
"""
_TABLE = """| Who | Brings | For |
|---|---|---|
| Ada | Lemon cake | 12 |
| Jun | Pasta salad | 10 |
"""
_ADDED = "Buy lemonade and paper cups"
_BEFORE = "Carry the big table down"


def fill(document: RichDocument) -> None:
    """All of it, as one person writes it."""
    body = document.body
    picture = Image(terrace_png(2 * _IMAGE_WIDTH_PX), _IMAGE_WIDTH_PX, "The terrace by the lake")
    parts = (*read_markdown(_OPENING), *read_markdown(_TABLE), picture)
    body.insert(0, parts)


def _document(view: ObjectView) -> RichDocument:
    document = view.opening.shared
    assert isinstance(document, RichDocument), "a document holds one"
    return document


def _add_item(view: ObjectView) -> None:
    """The second person writes one more item of the list."""
    assert isinstance(view, DocumentView), "a document is shown by one"
    document = _document(view)
    end = document.text.to_string().index(_BEFORE) + len(_BEFORE)
    with document.document.transaction("write"):
        document.body.rich.split(end)
        document.text.insert(end + 1, _ADDED)
    view.show_newest()
    caret = end + 1 + len(_ADDED)
    view.editor.select(caret, caret)


def _is_whole(shown: Shown) -> bool:
    styles = {style for style, _ in shown["outline"]}
    embedded = shown["text"].count("\ufffc")
    return {"h1", "h2", "check"} <= styles and embedded == 2 and _ADDED in shown["text"]


SAMPLE = Sample(TITLE, (lambda view: fill(_document(view)), _add_item), _is_whole)
