"""Owns writing ODT: the few parts that LibreOffice, Word and others need, made by hand."""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from liveobj.richtext.archive import write_archive
from liveobj.richtext.check_signs import box_of
from liveobj.richtext.highlights import HIGHLIGHTS
from liveobj.richtext.image_types import ending_of, mime_type_of, size_of
from liveobj.richtext.model import (
    CHECK,
    CODE_BLOCK,
    HEADINGS,
    HIGHLIGHT,
    LINE_BREAK,
    LINK,
    LISTS,
    NUMBER,
    QUOTE,
    Block,
    Content,
    Image,
    Marks,
    Paragraph,
    Part,
    Run,
    Table,
)
from liveobj.richtext.odt_reader import CM_PER_INDENT, NAMESPACES, PX_PER_CM

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_MIME = "application/vnd.oasis.opendocument.text"
_PAGE_WIDTH_PX = 600
_NAMES = " ".join(f'xmlns:{prefix}="{uri}"' for uri, prefix in NAMESPACES.items())
_ALIGNMENTS = {"center": "center", "right": "end", "justify": "justify"}
_PARENTS = {QUOTE: "Quotations", CODE_BLOCK: "Preformatted_20_Text"}
_PROPERTIES = {
    "bold": 'fo:font-weight="bold"',
    "italic": 'fo:font-style="italic"',
    "underline": 'style:text-underline-style="solid"',
    "strike": 'style:text-line-through-style="solid"',
    "code": 'style:font-name="Courier New" fo:font-family="Courier New"',
}
_SIZES = {"h1": 20, "h2": 15, "h3": 13, "h4": 12, "h5": 11, "h6": 11}


def write_odt(file: Path, content: Content, title: str) -> None:
    writer = _Writer()
    writer.write(content)
    pictures = "".join(
        f'<manifest:file-entry manifest:full-path="{path}"'
        f' manifest:media-type="{mime_type_of(data)}"/>'
        for path, data in writer.pictures.items()
    )
    manifest = (
        f'{_DECLARATION}<manifest:manifest manifest:version="1.2"'
        ' xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{_MIME}"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        '<manifest:file-entry manifest:full-path="styles.xml" manifest:media-type="text/xml"/>'
        '<manifest:file-entry manifest:full-path="meta.xml" manifest:media-type="text/xml"/>'
        f"{pictures}</manifest:manifest>"
    )
    meta = (
        f'{_DECLARATION}<office:document-meta office:version="1.2" {_NAMES}'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        f"<dc:title>{escape(title)}</dc:title></office:meta></office:document-meta>"
    )
    parts = {
        "mimetype": _MIME.encode(),
        "content.xml": writer.content().encode(),
        "styles.xml": _styles().encode(),
        "meta.xml": meta.encode(),
        **writer.pictures,
        "META-INF/manifest.xml": manifest.encode(),
    }
    write_archive(file, parts, plain_first="mimetype")


class _Writer:
    """Gathers the body, and the styles that it needs."""

    def __init__(self) -> None:
        self.pictures: dict[str, bytes] = {}
        self._body: list[str] = []
        self._words: dict[str, str] = {}
        self._blocks: dict[Block, str] = {}
        self._tables = 0

    def write(self, content: Content) -> None:
        """Items that follow one another are one list."""
        items: list[Paragraph] = []
        for part in content:
            if isinstance(part, Paragraph) and part.block.style in LISTS:
                numbered = part.block.style == NUMBER
                if items and part.block.indent == 0 and _numbered(items) != numbered:
                    self._list(items)
                    items = []
                items.append(part)
                continue
            self._list(items)
            items = []
            self._part(part)
        self._list(items)

    def _part(self, part: Part) -> None:
        if isinstance(part, Paragraph):
            self._body.append(self._paragraph(part))
        elif isinstance(part, Table):
            self._table(part)
        elif isinstance(part, Image):
            self._image(part)
        else:
            self._body.append(f"<text:p>{self._runs((Run(part.title),))}</text:p>")

    def _list(self, items: list[Paragraph]) -> None:
        if not items:
            return
        depth = 0
        kinds: list[str] = []
        for item in items:
            wanted = item.block.indent + 1
            kind = "Numbers" if item.block.style == NUMBER else "Bullets"
            while depth > wanted or (depth == wanted and kinds[-1] != kind and depth > 1):
                self._body.append("</text:list-item></text:list>")
                kinds.pop()
                depth -= 1
            if depth == wanted:
                self._body.append("</text:list-item><text:list-item>")
            while depth < wanted:
                self._body.append(f'<text:list text:style-name="{kind}"><text:list-item>')
                kinds.append(kind)
                depth += 1
            self._body.append(self._paragraph(item))
        self._body.append("</text:list-item></text:list>" * depth)

    def _paragraph(self, paragraph: Paragraph) -> str:
        block = paragraph.block
        words = self._runs(paragraph.runs)
        if block.style == CHECK:
            words = escape(box_of(paragraph)) + words
        style = self._block_style(block)
        if block.style in HEADINGS:
            level = f'text:outline-level="{block.style[1]}"'
            return f'<text:h text:style-name="{style}" {level}>{words}</text:h>'
        return f'<text:p text:style-name="{style}">{words}</text:p>'

    def _block_style(self, block: Block) -> str:
        look = block.style if block.style not in LISTS else ""
        indent = 0 if block.style in LISTS else block.indent
        key = Block(look, indent, block.align)
        if key not in self._blocks:
            self._blocks[key] = f"P{len(self._blocks) + 1}"
        return self._blocks[key]

    # Words

    def _runs(self, runs: tuple[Run, ...]) -> str:
        return "".join(self._run(run) for run in runs)

    def _run(self, run: Run) -> str:
        words = _words(run.text)
        key = _properties(run.marks)
        if key:
            name = self._words.setdefault(key, f"T{len(self._words) + 1}")
            words = f'<text:span text:style-name="{name}">{words}</text:span>'
        if LINK in run.marks:
            address = quoteattr(str(run.marks[LINK]))
            words = f'<text:a xlink:type="simple" xlink:href={address}>{words}</text:a>'
        return words

    # Tables and images

    def _table(self, table: Table) -> None:
        self._tables += 1
        columns = len(table.rows[0]) if table.rows else 1
        rows = []
        for number, row in enumerate(table.rows):
            cells = "".join(
                '<table:table-cell table:style-name="Cell">'
                f"<text:p>{self._runs(cell)}</text:p></table:table-cell>"
                for cell in row
            )
            line = f"<table:table-row>{cells}</table:table-row>"
            if table.header and not number:
                line = f"<table:table-header-rows>{line}</table:table-header-rows>"
            rows.append(line)
        self._body.append(
            f'<table:table table:name="Table{self._tables}">'
            f'<table:table-column table:number-columns-repeated="{columns}"/>'
            f"{''.join(rows)}</table:table>"
        )

    def _image(self, image: Image) -> None:
        path = f"Pictures/image{len(self.pictures) + 1}{ending_of(image.data)}"
        self.pictures[path] = image.data
        own_width, own_height = size_of(image.data)
        width = image.width or min(own_width, _PAGE_WIDTH_PX)
        height = max(1, round(width * own_height / own_width))
        self._body.append(
            '<text:p><draw:frame text:anchor-type="as-char"'
            f' svg:width="{width / PX_PER_CM:.3f}cm" svg:height="{height / PX_PER_CM:.3f}cm">'
            f'<draw:image xlink:href="{path}" xlink:type="simple"/>'
            f"<svg:desc>{escape(image.words)}</svg:desc></draw:frame></text:p>"
        )

    # The part of the file

    def content(self) -> str:
        words = "".join(
            f'<style:style style:name="{name}" style:family="text">'
            f"<style:text-properties {key}/></style:style>"
            for key, name in self._words.items()
        )
        blocks = "".join(_block_style(block, name) for block, name in self._blocks.items())
        cell = (
            '<style:style style:name="Cell" style:family="table-cell"><style:table-cell-properties'
            ' fo:border="0.5pt solid #bbbbbb" fo:padding="0.15cm"/></style:style>'
        )
        return (
            f'{_DECLARATION}<office:document-content office:version="1.2" {_NAMES}>'
            f"<office:automatic-styles>{blocks}{words}{cell}{_lists()}</office:automatic-styles>"
            f"<office:body><office:text>{''.join(self._body)}</office:text></office:body>"
            "</office:document-content>"
        )


def _numbered(items: list[Paragraph]) -> bool:
    """Whether the outermost of some items are numbered."""
    outer = [item.block.style for item in items if item.block.indent == 0]
    return bool(outer) and outer[-1] == NUMBER


def _properties(marks: Marks) -> str:
    properties = [words for name, words in _PROPERTIES.items() if name in marks]
    if HIGHLIGHT in marks:
        properties.append(f'fo:background-color="{HIGHLIGHTS[str(marks[HIGHLIGHT])]}"')
    return " ".join(properties)


def _words(text: str) -> str:
    parts = []
    for number, line in enumerate(text.split(LINE_BREAK)):
        if number:
            parts.append("<text:line-break/>")
        for column, piece in enumerate(line.split("\t")):
            if column:
                parts.append("<text:tab/>")
            parts.append(_blanks(piece))
    return "".join(parts)


def _blanks(text: str) -> str:
    """Blanks that a reader would take for one, or for none, are written by their number."""
    result = []
    at = 0
    for found in re.finditer(r" +", text):
        result.append(escape(text[at : found.start()]))
        count = found.end() - found.start()
        inside = found.start() > 0 and found.end() < len(text)
        result.append(
            (" " if inside else "<text:s/>")
            + (f'<text:s text:c="{count - 1}"/>' if count > 1 else "")
        )
        at = found.end()
    return "".join(result) + escape(text[at:])


def _block_style(block: Block, name: str) -> str:
    parent = _PARENTS.get(block.style, "Standard")
    if block.style in HEADINGS:
        parent = f"Heading_20_{block.style[1]}"
    align = f' fo:text-align="{_ALIGNMENTS[block.align]}"' if block.align else ""
    indent = f' fo:margin-left="{block.indent * CM_PER_INDENT:.2f}cm"' if block.indent else ""
    return (
        f'<style:style style:name="{name}" style:family="paragraph"'
        f' style:parent-style-name="{parent}">'
        f"<style:paragraph-properties{align}{indent}/></style:style>"
    )


def _lists() -> str:
    def levels(make: str, what: str) -> str:
        return "".join(
            f'<text:list-level-style-{make} text:level="{level}" {what}>'
            "<style:list-level-properties"
            ' text:list-level-position-and-space-mode="label-alignment">'
            '<style:list-level-label-alignment text:label-followed-by="listtab"'
            f' fo:text-indent="-0.63cm" fo:margin-left="{0.63 * level + 0.63:.2f}cm"/>'
            f"</style:list-level-properties></text:list-level-style-{make}>"
            for level in range(1, 11)
        )

    bullets = levels("bullet", 'text:bullet-char="\u2022"')
    numbers = levels("number", 'style:num-format="1" style:num-suffix="."')
    return (
        f'<text:list-style style:name="Bullets">{bullets}</text:list-style>'
        f'<text:list-style style:name="Numbers">{numbers}</text:list-style>'
    )


def _styles() -> str:
    headings = "".join(
        f'<style:style style:name="Heading_20_{name[1]}" style:display-name="Heading {name[1]}"'
        ' style:family="paragraph" style:parent-style-name="Standard"'
        f' style:default-outline-level="{name[1]}">'
        '<style:paragraph-properties fo:margin-top="0.42cm" fo:margin-bottom="0.15cm"/>'
        f'<style:text-properties fo:font-weight="bold" fo:font-size="{_SIZES[name]}pt"/>'
        "</style:style>"
        for name in HEADINGS
    )
    return (
        f'{_DECLARATION}<office:document-styles office:version="1.2" {_NAMES}><office:styles>'
        '<style:style style:name="Standard" style:family="paragraph">'
        '<style:paragraph-properties fo:margin-bottom="0.2cm"/></style:style>'
        '<style:style style:name="Quotations" style:family="paragraph"'
        ' style:parent-style-name="Standard"><style:paragraph-properties fo:margin-left="0.5cm"/>'
        '<style:text-properties fo:font-style="italic"/></style:style>'
        '<style:style style:name="Preformatted_20_Text" style:display-name="Preformatted Text"'
        ' style:family="paragraph" style:parent-style-name="Standard">'
        '<style:paragraph-properties fo:margin-bottom="0cm"/>'
        '<style:text-properties fo:font-family="Courier New" fo:font-size="10pt"/></style:style>'
        f"{headings}</office:styles></office:document-styles>"
    )
