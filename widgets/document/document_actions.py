"""What one can do in a document: marks of words, styles of paragraphs, what is put in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from widgets.action import Action
from widgets.language import tr

if TYPE_CHECKING:
    from widgets.document.document_view import DocumentView


def mark_actions(view: DocumentView) -> list[Action]:
    def mark(name: str, title: str, keys: str) -> Action:
        return view.action(
            name,
            title,
            lambda: view.editor.active.toggle_mark(name),
            keys,
            edits=True,
            checked=lambda: name in view.editor.active.marks_here,
        )

    return [
        mark("bold", tr("Bold"), "Ctrl+B"),
        mark("italic", tr("Italic"), "Ctrl+I"),
        mark("underline", tr("Underline"), "Ctrl+U"),
        mark("strike", tr("Strike through"), "Ctrl+Shift+X"),
        mark("code", tr("Code"), "Ctrl+E"),
        view.action("highlight", tr("Highlight"), lambda: view.highlight("yellow"), edits=True),
        view.action(
            "clear",
            tr("Plain words"),
            view.clear_marks,
            "Ctrl+Space",
            edits=True,
        ),
        view.action("link", tr("Link"), view.edit_link, "Ctrl+L", edits=True),
    ]


def style_actions(view: DocumentView) -> list[Action]:
    def style(name: str, look: str, title: str, keys: str = "") -> Action:
        return view.action(
            name,
            title,
            lambda: view.set_style(look),
            keys,
            edits=True,
            checked=lambda: view.editor.block_here.style == look,
        )

    def align(name: str, title: str) -> Action:
        run: Callable[[], None] = lambda: view.editor.set_alignment(name)  # noqa: E731
        return view.action(f"align-{name or 'left'}", title, run, edits=True)

    return [
        style("plain", "", tr("Text"), "Ctrl+0"),
        style("h1", "h1", tr("Heading 1"), "Ctrl+1"),
        style("h2", "h2", tr("Heading 2"), "Ctrl+2"),
        style("h3", "h3", tr("Heading 3"), "Ctrl+3"),
        style("quote", "quote", tr("Quote")),
        style("codeblock", "code", tr("Code block")),
        style("bullet", "bullet", tr("Bullets"), "Ctrl+Shift+8"),
        style("number", "number", tr("Numbers"), "Ctrl+Shift+7"),
        style("check", "check", tr("Check list"), "Ctrl+Shift+9"),
        align("", tr("Align left")),
        align("center", tr("Centre")),
        align("right", tr("Align right")),
        align("justify", tr("Justify")),
        view.action("indent", tr("Indent"), lambda: view.editor.indent_by(1), "Ctrl+]", edits=True),
        view.action(
            "outdent", tr("Outdent"), lambda: view.editor.indent_by(-1), "Ctrl+[", edits=True
        ),
    ]


def insert_actions(view: DocumentView) -> list[Action]:
    def table(name: str, title: str, run: Callable[[], None]) -> Action:
        def why_not() -> str:
            return "" if view.editor.grid is not None else tr("the caret is in no table")

        action = view.action(name, title, run, edits=True)
        return Action(action.identity, title, run, why_not=lambda: action.why_not() or why_not())

    return [
        view.action("import", tr("Insert from file…"), view.ask_import, edits=True),
        view.action("export", tr("Export as…"), view.ask_export),
        view.action("image", tr("Insert image…"), view.ask_image, edits=True),
        view.action("table", tr("Insert table"), view.insert_table, edits=True),
        table("row-above", tr("Add row above"), lambda: view.change_table("row", 0)),
        table("row-below", tr("Add row below"), lambda: view.change_table("row", 1)),
        table("row-remove", tr("Remove row"), lambda: view.change_table("row", -1)),
        table("column-before", tr("Add column before"), lambda: view.change_table("column", 0)),
        table("column-after", tr("Add column after"), lambda: view.change_table("column", 1)),
        table("column-remove", tr("Remove column"), lambda: view.change_table("column", -1)),
    ]
