"""Owns writing DOCX: the few parts that Word, LibreOffice and others need, made by hand."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from liveobj.richtext.archive import write_archive
from liveobj.richtext.check_signs import box_of
from liveobj.richtext.docx_reader import EMU_PER_PX, HIGHLIGHTS, TWIPS_PER_INDENT
from liveobj.richtext.image_types import ending_of, mime_type_of, size_of
from liveobj.richtext.model import (
    CHECK,
    CODE,
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
    Embedded,
    Image,
    Paragraph,
    Run,
    Table,
)

_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_PAGE_WIDTH_PX = 600
_ALIGNMENTS = {"center": "center", "right": "right", "justify": "both"}
_FLAGS = {"bold": "<w:b/>", "italic": "<w:i/>", "strike": "<w:strike/>"}
_BULLETS, _NUMBERS = 1, 2
_SIZES = {"h1": 40, "h2": 30, "h3": 26, "h4": 24, "h5": 22, "h6": 22}


def write_docx(file: Path, content: Content, title: str) -> None:
    writer = _Writer()
    for part in content:
        writer.part(part)
    write_archive(
        file,
        {
            "[Content_Types].xml": writer.types().encode(),
            "_rels/.rels": _relationships(
                [("rId1", f"{_OFFICE}/relationships/officeDocument", "word/document.xml", False)]
            ).encode(),
            "docProps/core.xml": _core(title).encode(),
            "word/document.xml": writer.document().encode(),
            "word/styles.xml": _styles().encode(),
            "word/numbering.xml": writer.numbering().encode(),
            "word/_rels/document.xml.rels": _relationships(writer.relations).encode(),
            **writer.media,
        },
    )


class _Writer:
    """Gathers the paragraphs, and what they refer to."""

    def __init__(self) -> None:
        self.media: dict[str, bytes] = {}
        self.relations: list[tuple[str, str, str, bool]] = [
            ("rId1", f"{_OFFICE}/relationships/styles", "styles.xml", False),
            ("rId2", f"{_OFFICE}/relationships/numbering", "numbering.xml", False),
        ]
        self._body: list[str] = []
        self._lists = _NUMBERS - 1
        self._numbering = False

    def part(self, part: Paragraph | Image | Table | Embedded) -> None:
        if not isinstance(part, Paragraph) or part.block.style not in LISTS:
            self._numbering = False  # the next numbered item begins a list
        if isinstance(part, Paragraph):
            self._paragraph(part)
        elif isinstance(part, Table):
            self._table(part)
        elif isinstance(part, Image):
            self._image(part)
        else:
            self._body.append(f"<w:p>{self._runs((Run(part.title),))}</w:p>")

    def _paragraph(self, paragraph: Paragraph) -> None:
        block = paragraph.block
        words = self._runs(paragraph.runs)
        if block.style == CHECK:
            words = self._runs((Run(box_of(paragraph)),)) + words
        self._body.append(f"<w:p>{self._look(block)}{words}</w:p>")

    def _look(self, block: Block) -> str:
        parts = []
        if block.style in HEADINGS:
            parts.append(f'<w:pStyle w:val="Heading{block.style[1]}"/>')
        elif block.style in (QUOTE, CODE_BLOCK):
            parts.append(f'<w:pStyle w:val="{"Quote" if block.style == QUOTE else "Code"}"/>')
        if block.style in LISTS:
            if block.style == NUMBER and not self._numbering:
                self._numbering = True
                self._lists += 1
            number = self._lists if block.style == NUMBER else _BULLETS
            parts.append(
                f'<w:numPr><w:ilvl w:val="{block.indent}"/><w:numId w:val="{number}"/></w:numPr>'
            )
        elif block.indent:
            parts.append(f'<w:ind w:left="{block.indent * TWIPS_PER_INDENT}"/>')
        if block.align:
            parts.append(f'<w:jc w:val="{_ALIGNMENTS[block.align]}"/>')
        return f"<w:pPr>{''.join(parts)}</w:pPr>" if parts else ""

    # Words

    def _runs(self, runs: tuple[Run, ...]) -> str:
        return "".join(self._run(run) for run in runs)

    def _run(self, run: Run) -> str:
        words = f"<w:r>{_run_look(run)}{_words(run.text)}</w:r>"
        if LINK in run.marks:
            name = self._refer(f"{_OFFICE}/relationships/hyperlink", str(run.marks[LINK]), True)
            return f'<w:hyperlink r:id="{name}">{words}</w:hyperlink>'
        return words

    def _refer(self, kind: str, target: str, external: bool = False) -> str:
        name = f"rId{len(self.relations) + 1}"
        self.relations.append((name, kind, target, external))
        return name

    # Tables and images

    def _table(self, table: Table) -> None:
        width = 9000 // max(1, len(table.rows[0]) if table.rows else 1)
        columns = f'<w:gridCol w:w="{width}"/>' * (len(table.rows[0]) if table.rows else 0)
        rows = []
        for number, row in enumerate(table.rows):
            head = "<w:trPr><w:tblHeader/></w:trPr>" if table.header and not number else ""
            cells = "".join(
                f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>'
                f"<w:p>{self._runs(cell)}</w:p></w:tc>"
                for cell in row
            )
            rows.append(f"<w:tr>{head}{cells}</w:tr>")
        self._body.append(
            '<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/>'
            f"</w:tblPr><w:tblGrid>{columns}</w:tblGrid>{''.join(rows)}</w:tbl>"
        )

    def _image(self, image: Image) -> None:
        number = len(self.media) + 1
        path = f"media/image{number}{ending_of(image.data)}"
        self.media[f"word/{path}"] = image.data
        name = self._refer(f"{_OFFICE}/relationships/image", path)
        own_width, own_height = size_of(image.data)
        width = image.width or min(own_width, _PAGE_WIDTH_PX)
        height = max(1, round(width * own_height / own_width))
        across, down = width * EMU_PER_PX, height * EMU_PER_PX
        words = quoteattr(image.words)
        self._body.append(
            "<w:p><w:r><w:drawing><wp:inline>"
            f'<wp:extent cx="{across}" cy="{down}"/>'
            f'<wp:docPr id="{number}" name="Image {number}" descr={words}/>'
            f'<a:graphic><a:graphicData uri="{_DRAWING}/picture"><pic:pic>'
            f'<pic:nvPicPr><pic:cNvPr id="{number}" name="Image {number}"/><pic:cNvPicPr/>'
            f'</pic:nvPicPr><pic:blipFill><a:blip r:embed="{name}"/>'
            "<a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm>"
            f'<a:off x="0" y="0"/><a:ext cx="{across}" cy="{down}"/></a:xfrm>'
            '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>'
            "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
        )

    # The parts of the file

    def document(self) -> str:
        return (
            f'{_DECLARATION}<w:document xmlns:w="{_MAIN}" xmlns:r="{_OFFICE}/relationships"'
            f' xmlns:a="{_DRAWING}/main" xmlns:pic="{_DRAWING}/picture"'
            f' xmlns:wp="{_DRAWING}/wordprocessingDrawing"><w:body>{"".join(self._body)}'
            "<w:sectPr/></w:body></w:document>"
        )

    def types(self) -> str:
        images = {ending_of(data)[1:]: mime_type_of(data) for data in self.media.values()}
        defaults = "".join(
            f'<Default Extension="{ending}" ContentType="{kind}"/>'
            for ending, kind in images.items()
        )
        overrides = "".join(
            f'<Override PartName="{path}" ContentType="{kind}"/>'
            for path, kind in (
                ("/word/document.xml", f"{_WORD_TYPE}.document.main+xml"),
                ("/word/styles.xml", f"{_WORD_TYPE}.styles+xml"),
                ("/word/numbering.xml", f"{_WORD_TYPE}.numbering+xml"),
                (
                    "/docProps/core.xml",
                    "application/vnd.openxmlformats-package.core-properties+xml",
                ),
            )
        )
        return (
            f'{_DECLARATION}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{defaults}{overrides}</Types>'
        )

    def numbering(self) -> str:
        kinds = (("bullet", "\u2022"), ("decimal", ""))
        abstract = "".join(
            f'<w:abstractNum w:abstractNumId="{number}">'
            + "".join(_level(level, how, sign) for level in range(9))
            + "</w:abstractNum>"
            for number, (how, sign) in enumerate(kinds)
        )
        lists = f'<w:num w:numId="{_BULLETS}"><w:abstractNumId w:val="0"/></w:num>'
        restart = "".join(
            f'<w:lvlOverride w:ilvl="{level}"><w:startOverride w:val="1"/></w:lvlOverride>'
            for level in range(9)
        )
        for number in range(_NUMBERS, self._lists + 1):
            lists += f'<w:num w:numId="{number}"><w:abstractNumId w:val="1"/>{restart}</w:num>'
        return f'{_DECLARATION}<w:numbering xmlns:w="{_MAIN}">{abstract}{lists}</w:numbering>'


def _level(level: int, how: str, sign: str) -> str:
    words = sign or f"%{level + 1}."
    left = (level + 1) * TWIPS_PER_INDENT // 2
    return (
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{how}"/>'
        f'<w:lvlText w:val="{words}"/><w:lvlJc w:val="left"/>'
        f'<w:pPr><w:ind w:left="{left}" w:hanging="360"/></w:pPr></w:lvl>'
    )


def _run_look(run: Run) -> str:
    looks = [look for name, look in _FLAGS.items() if name in run.marks]
    if CODE in run.marks:
        looks.insert(0, '<w:rStyle w:val="CodeChar"/>')
    if "underline" in run.marks:
        looks.append('<w:u w:val="single"/>')
    if HIGHLIGHT in run.marks:
        colour = next(word for word, ours in HIGHLIGHTS.items() if ours == run.marks[HIGHLIGHT])
        looks.append(f'<w:highlight w:val="{colour}"/>')
    if LINK in run.marks:
        looks.append('<w:color w:val="0A716A"/>')
    return f"<w:rPr>{''.join(looks)}</w:rPr>" if looks else ""


def _words(text: str) -> str:
    parts = []
    for number, line in enumerate(text.split(LINE_BREAK)):
        if number:
            parts.append("<w:br/>")
        for column, piece in enumerate(line.split("\t")):
            if column:
                parts.append("<w:tab/>")
            if piece:
                parts.append(f'<w:t xml:space="preserve">{escape(piece)}</w:t>')
    return "".join(parts)


def _styles() -> str:
    headings = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{name[1]}">'
        f'<w:name w:val="heading {name[1]}"/><w:basedOn w:val="Normal"/><w:qFormat/>'
        '<w:pPr><w:keepNext/><w:spacing w:before="240" w:after="80"/>'
        f'<w:outlineLvl w:val="{int(name[1]) - 1}"/></w:pPr>'
        f'<w:rPr><w:b/><w:sz w:val="{_SIZES[name]}"/></w:rPr></w:style>'
        for name in HEADINGS
    )
    mono = '<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New"/><w:sz w:val="20"/>'
    border = '="single" w:sz="4" w:space="0" w:color="BBBBBB"/>'
    borders = "".join(
        f"<w:{side} w:val{border}"
        for side in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    return (
        f'{_DECLARATION}<w:styles xmlns:w="{_MAIN}">'
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/>'
        '<w:pPr><w:spacing w:after="120"/></w:pPr><w:rPr><w:sz w:val="22"/></w:rPr></w:style>'
        f"{headings}"
        '<w:style w:type="paragraph" w:styleId="Quote"><w:name w:val="Quote"/>'
        '<w:basedOn w:val="Normal"/><w:pPr><w:ind w:left="400"/></w:pPr>'
        "<w:rPr><w:i/></w:rPr></w:style>"
        '<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Code"/>'
        f'<w:basedOn w:val="Normal"/><w:pPr><w:spacing w:after="0"/></w:pPr><w:rPr>{mono}</w:rPr>'
        "</w:style>"
        '<w:style w:type="character" w:styleId="CodeChar"><w:name w:val="Code Char"/>'
        f"<w:rPr>{mono}</w:rPr></w:style>"
        '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/>'
        f"<w:tblPr><w:tblBorders>{borders}</w:tblBorders></w:tblPr></w:style></w:styles>"
    )


def _relationships(relations: list[tuple[str, str, str, bool]]) -> str:
    entries = "".join(
        f"<Relationship Id={quoteattr(name)} Type={quoteattr(kind)} Target={quoteattr(target)}"
        + (' TargetMode="External"/>' if external else "/>")
        for name, kind, target, external in relations
    )
    return (
        f'{_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">{entries}</Relationships>'
    )


def _core(title: str) -> str:
    return (
        f'{_DECLARATION}<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{escape(title)}</dc:title></cp:coreProperties>"
    )
