"""The view of a rich document: a calm page, a quiet bar above it, comments and the past beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QDesktopServices, QTextCursor
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from liveobj.channels.presence import Presence, PresenceEntry
from liveobj.documents import Document, DocumentError
from liveobj.objects.rich_document import TEMPLATE_ID, RichBody, RichDocument
from liveobj.opening import Opening
from liveobj.references import Parameterized, Reference, Value
from liveobj.richtext.model import (
    HIGHLIGHT,
    Content,
    Image,
    Part,
    Run,
    Table,
    plain_text,
    safe_link,
)
from transport.whole_file import users_rights
from widgets.action import Action
from widgets.document.clipboard import Picture, fill_mime, long_form, picture_in, take
from widgets.document.conversion import (
    Helper,
    Pouring,
    read_in_helper,
    read_pasted,
    write_in_helper,
)
from widgets.document.document_actions import insert_actions, mark_actions, style_actions
from widgets.document.link_box import LinkBox
from widgets.document.page import DocumentPage
from widgets.document.rich_editor import RichEditor
from widgets.document.toolbar import Toolbar
from widgets.in_thread import InThread
from widgets.language import tr
from widgets.nesting import Nested
from widgets.object_kind import ObjectKind
from widgets.object_view import Surroundings
from widgets.writing_view import WritingView

_IMAGE_FILTER = "Images (*.png *.jpg *.jpeg *.gif *.webp *.bmp)"
_FILE_FILTER = (
    "Documents (*.odt *.docx *.md *.html *.txt);;OpenDocument (*.odt);;Word (*.docx);;"
    "Markdown (*.md);;Web page (*.html);;Text (*.txt)"
)
_NEW_TABLE = (3, 3)
# What scripts and tests are told of a long document.
_OUTLINE_MAX = 200


class DocumentView(WritingView):
    """Attributes: `editor` (the page), `toolbar`, `link_box`."""

    _word = "document"
    editor: DocumentPage
    toolbar: Toolbar

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        self.link_box = LinkBox(around.theme, self)
        self.link_box.closed.connect(self._focus)
        self.link_box.refused.connect(
            lambda: around.say(tr("A link begins with https:, http: or mailto:."))
        )
        self.link_box.opened.connect(self._follow)
        self.link_box.chosen.connect(self._on_link)
        self._link: tuple[RichEditor, int, int] | None = None
        self._work: list[Helper | Pouring] = []
        self._is_closed = False
        page = self.editor
        page.shortcuts = {a.shortcut: self._runner(a) for a in self._actions if a.shortcut}
        page.fill_mime = lambda mime, start, end: fill_mime(mime, self.body.content(start, end))
        page.take_mime = self._on_mime
        page.link_followed.connect(self._follow)
        page.format_changed.connect(self._refresh)
        page.when_cell = self._refresh
        self.changed.connect(self._refresh)
        self._refresh()

    @property
    def body(self) -> RichBody:
        return self.editor.body

    def make_editor(self) -> DocumentPage:
        shared = self.opening.shared
        assert isinstance(shared, RichDocument), "the kind says what is opened"
        return DocumentPage(self._inside(), shared.body, shared.presence)

    def _inside(self) -> Nested:
        return Nested(self.around, self.opening.identity)

    def make_past(self, document: Document) -> QWidget:
        nobody = Presence(PresenceEntry("", "#000000"), lambda: None)
        page = DocumentPage(self._inside(), RichBody(document, _no_random), nobody)
        page.link_followed.connect(self._follow)
        page.setAccessibleName(tr("The document as it was"))
        return page

    def close_past(self, page: QWidget) -> None:
        assert isinstance(page, DocumentPage), "made above"
        page.close_view()

    def make_top(self) -> QWidget:
        # The bar needs the actions, which need the editor; all three are there now.
        self.toolbar = Toolbar(
            self.around.theme, self.make_actions(), self.run_action, self.highlight
        )
        return self.toolbar

    # Actions

    def make_actions(self) -> Sequence[Action]:
        return [
            *mark_actions(self),
            *style_actions(self),
            *insert_actions(self),
            *super().make_actions(),
        ]

    def _runner(self, action: Action) -> Callable[[], None]:
        name = action.identity.split(".", 1)[1]
        return lambda: self.run_action(name)

    def _refresh(self) -> None:
        if hasattr(self, "toolbar"):
            style = self.editor.block_here.style
            self.toolbar.refresh("codeblock" if style == "code" else style)

    # Intents

    def set_style(self, look: str) -> None:
        """Gives the paragraphs a style, or takes it away; no look: plain text."""
        if look:
            self.editor.toggle_style(look)
        elif self.editor.block_here.style:
            self.editor.toggle_style(self.editor.block_here.style)
        self.editor.setFocus()

    def _focus(self) -> None:
        self.editor.active.setFocus()

    def clear_marks(self) -> None:
        self.editor.active.clear_marks()

    def highlight(self, colour: str) -> None:
        """Marks the words with a colour; none: takes it away."""
        editor = self.editor.active
        if colour:
            editor.toggle_mark(HIGHLIGHT, colour)
        else:
            editor.set_mark(HIGHLIGHT, None)
        editor.setFocus()

    def edit_link(self) -> None:
        """Asks where the link at the caret, or what is selected, leads."""
        editor = self.editor.active
        start, end, address = editor.link_here()
        self._link = (editor, start, end)
        corner = editor.viewport().mapTo(self, editor.cursorRect().bottomLeft())
        self.link_box.show_at(corner, address)

    def _on_link(self, address: str) -> None:
        if self._link is not None:
            editor, start, end = self._link
            editor.set_link(start, end, address or None)

    def _follow(self, address: str) -> None:
        found = safe_link(address)
        if found is not None:
            with users_rights():  # a browser saves for itself
                QDesktopServices.openUrl(QUrl(found))

    def insert_table(self, rows: int = _NEW_TABLE[0], columns: int = _NEW_TABLE[1]) -> None:
        empty: tuple[tuple[tuple[Run, ...], ...], ...] = tuple(((),) * columns for _ in range(rows))
        position, length = self.editor.selection[0], self.body.text.length
        self.insert_content((Table(empty),))
        if self.body.text.length != length:
            self.editor.enter_table(position)

    def change_table(self, what: str, step: int) -> None:
        """Adds a row or column before (0) or behind (1) that of the caret, or removes it (-1)."""
        grid = self.editor.grid
        place = None if grid is None else grid.place
        if grid is None or place is None:
            return
        index = place.row if what == "row" else place.column
        if step < 0:
            (grid.remove_row if what == "row" else grid.remove_column)(index)
        else:
            (grid.add_row if what == "row" else grid.add_column)(index + step)

    def ask_image(self) -> None:
        self.around.ask_for_files(tr("Insert image"), _IMAGE_FILTER, self.insert_images)

    def insert_images(self, files: Sequence[Path]) -> None:
        """Puts images from files in at the caret."""
        self._insert_pictures([picture_in(file) for file in files], self.editor.delete_selection())

    def _insert_pictures(self, pictures: Sequence[Picture], position: int) -> None:
        """Makes them in a thread, and puts them in where the place is by then."""
        if not pictures:
            return
        place = self.body.text.cursor_at(position, before=True)

        def made(images: list[Image | None] | None, _problem: Exception | None) -> None:
            if self._is_closed:
                return
            found = images or [None] * len(pictures)
            for picture, image in zip(pictures, found, strict=True):
                if image is None:
                    words = tr("{file} cannot be read as an image.", file=picture.name)
                    self.around.say(words)
            content = [image for image in found if image is not None]
            if content:
                self.insert_content(content, self.body.text.position_of(place))

        InThread(lambda: [picture.make() for picture in pictures], made, self)

    # Files

    def ask_import(self) -> None:
        self.around.ask_for_files(tr("Insert from file"), _FILE_FILTER, self.insert_files)

    def insert_files(self, files: Sequence[Path], position: int | None = None) -> None:
        """Takes files in at the caret or at a position, one after another, while one goes on."""
        if not files:
            return
        at = self.editor.delete_selection() if position is None else position
        place = self.body.text.cursor_at(at, before=True)
        name = files[0].name

        def read(content: Content, problem: str) -> None:
            if self._is_closed:
                return
            if problem:
                self.around.say(
                    tr("{file} was not taken in. {problem}", file=name, problem=problem)
                )
                poured(self.body.text.position_of(place), "")
            else:
                here = self.body.text.position_of(place)
                pouring = Pouring(self.body, here, content, poured, self)
                self._work.append(pouring)
                self.editor.long_edits.adopt(pouring)

        def poured(end: int, problem: str) -> None:
            if problem:
                self.around.say(problem)
            self.editor.show_soon()
            self.editor.history_changed.emit()
            self.insert_files(files[1:], end)

        self._work.append(read_in_helper(files[0], read, self))

    def ask_export(self) -> None:
        self.around.ask_where_to_save(
            tr("Export as"), f"{self.opening.title}.odt", _FILE_FILTER, self.export_to
        )

    def export_to(self, file: Path) -> None:
        """Writes the document to a file of the kind that its ending says."""

        def written(problem: str) -> None:
            self.around.say(problem or tr("Exported as {file}.", file=file.name))

        document, title = self.body.document, self.opening.title
        self._work.append(write_in_helper(file, document, title, written, self))

    def insert_content(self, content: Sequence[Part], position: int | None = None) -> None:
        """Puts content in, in the place of the selection or at a position."""
        at = self.editor.delete_selection() if position is None else position
        try:
            self.editor.insert_parts(at, lambda place: self.body.insert(place, content))
        except DocumentError as problem:
            self.around.say(str(problem))
        self.editor.setFocus()

    def _on_mime(self, mime: QMimeData, position: int) -> None:
        long = long_form(mime)
        if long is not None:
            self._paste_long(*long, position)
            return
        taken = take(mime, self._title_of)
        if taken.content:
            self.insert_content(taken.content, position)
        self._insert_pictures(taken.pictures, position)
        self.insert_files(taken.files, position)
        for problem in taken.problems:
            self.around.say(problem)

    def _paste_long(self, form: str, data: bytes, position: int) -> None:
        """Has it read beside the window, and pours it in where the place is by then."""
        place = self.body.text.cursor_at(position, before=True)
        mark = QTextCursor(self.editor.textCursor())
        mark.setKeepPositionOnInsert(True)

        def read(content: Content, problem: str) -> None:
            if self._is_closed:
                return
            if problem:
                self.around.say(tr("It was not pasted. {problem}", problem=problem))
                return
            here = self.body.text.position_of(place)
            pouring = Pouring(self.body, here, content, poured, self)
            self._work.append(pouring)
            self.editor.long_edits.adopt(pouring)

        def poured(end: int, problem: str) -> None:
            if problem:
                self.around.say(problem)
            self.editor.show_newest()
            if not problem and self.editor.textCursor().position() == mark.position():
                self.editor.place_caret(end)
            self.editor.history_changed.emit()

        helper = read_pasted(form, data, read, self)
        if helper is not None:
            self._work.append(helper)

    def _title_of(self, reference: Reference) -> str:
        if isinstance(reference, Parameterized):
            title = reference.arguments.get("title")
            if isinstance(title, Value) and isinstance(title.data, str):
                return title.data[:200]
        return ""

    # For whoever shows the view

    def close_view(self) -> None:
        self._is_closed = True
        for work in self._work:
            if isValid(work):
                work.stop()
        super().close_view()

    def describe(self) -> dict[str, Any]:
        lines = self.body.rich.lines()
        outline = [(line.block.style, "".join(run.text for run in line.runs)) for line in lines]
        return {**super().describe(), "outline": outline[:_OUTLINE_MAX]}


def _no_random(_count: int) -> bytes:
    raise AssertionError("nothing is made in an old state")


def _words_in(document: Document) -> str:
    """What a search finds it by: its words, those in tables too."""
    return plain_text(RichBody(document, _no_random).content())


KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Document"),
    sentence=tr("Headings, lists, tables and images, written together"),
    icon="notebook-text",
    view=DocumentView,
    text=_words_in,
)
