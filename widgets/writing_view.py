"""What the views of notes and documents have in common: the page with its bars, comments beside it,
and the past shown in place of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from liveobj.channels.presence import Presence
from liveobj.documents import Document, Text, Version
from liveobj.objects.comments import Comments
from liveobj.objects.writers import Writers
from liveobj.opening import Opening
from widgets.action import Action
from widgets.comments_panel import CommentsPanel
from widgets.find_bar import FindBar
from widgets.history_bar import HistoryBar
from widgets.language import tr
from widgets.object_view import ObjectView, Surroundings
from widgets.shared_text_edit import SharedTextEdit


class Written(Protocol):
    """What such a view needs of its object."""

    document: Document
    text: Text
    presence: Presence
    comments: Comments
    writers: Writers


class WritingView(ObjectView):
    """Base of views with one long text. A subclass makes the editor, and the page that shows an old
    state.

    Attributes: `editor`, `find_bar`, `history_bar`, `comments_panel`, `past` (the page of an old
    state, while one is shown).
    """

    _word = ""

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        written = cast(Written, opening.shared)
        self.editor: SharedTextEdit = self.make_editor()
        self.past: QWidget | None = None
        self.find_bar = FindBar(around.theme, self.editor)
        self.history_bar = HistoryBar(
            around.theme, written.document, written.writers, opening.shared.authors
        )
        self.comments_panel = CommentsPanel(around.theme, written.comments, self.editor)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.editor)
        self._build()
        self.setFocusProxy(self.editor)
        self.editor.history_changed.connect(self.changed)
        self.history_bar.shown.connect(self._show_past)
        self.history_bar.restored.connect(self.editor.show_newest)
        self.comments_panel.said.connect(around.say)
        self.comments_panel.typed.connect(lambda typed: self.set_draft("comment", typed))
        self.editor.composing_changed.connect(lambda on: self.set_draft("input method", on))
        self.editor.long_edits.pasting_changed.connect(lambda on: self.set_draft("paste", on))
        self._actions = tuple(self.make_actions())

    def make_editor(self) -> SharedTextEdit:
        raise NotImplementedError

    def make_past(self, document: Document) -> QWidget:
        """A page that shows a document as it was."""
        raise NotImplementedError

    def close_past(self, page: QWidget) -> None:
        """Lets go of such a page."""

    def make_top(self) -> QWidget | None:
        """What stands above the page."""
        return None

    def _build(self) -> None:
        column = QVBoxLayout()
        column.setSpacing(0)
        top = self.make_top()
        if top is not None:
            column.addWidget(top)
        column.addWidget(self.find_bar)
        column.addWidget(self._stack, 1)
        column.addWidget(self.history_bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addLayout(column, 1)
        row.addWidget(self.comments_panel)

    # Actions

    def make_actions(self) -> Sequence[Action]:
        action = self.action
        return [
            action("find", tr("Find and replace"), self.find_bar.open_bar, "Ctrl+F"),
            action(
                "comment",
                tr("Comment on the selection"),
                self.comments_panel.begin_comment,
                "Ctrl+Alt+M",
                edits=True,
            ),
            action("comments", tr("Show comments"), self._toggle_comments),
            action("history", tr("Show history"), self._toggle_history, "Ctrl+Shift+H"),
        ]

    def action(
        self,
        name: str,
        title: str,
        run: Callable[[], None],
        shortcut: str = "",
        *,
        edits: bool = False,
        checked: Callable[[], bool] | None = None,
    ) -> Action:
        """An action of this view; one that `edits` is not possible for who may only look."""

        def why_not() -> str:
            if self.past is not None and edits:
                return tr("an old state is shown")
            may = self.opening.shared.document.editable or not edits
            return "" if may else tr("you may look, but not edit")

        return Action(f"{self._word}.{name}", title, run, shortcut, why_not, checked)

    def actions_here(self) -> Sequence[Action]:
        return self._actions

    def run_action(self, name: str) -> None:
        """Does one of the actions, if it can be done now; for buttons."""
        found = next(a for a in self._actions if a.identity == f"{self._word}.{name}")
        if not found.why_not():
            found.run()
            self.changed.emit()

    def _toggle_comments(self) -> None:
        if self.comments_panel.isVisible():
            self.comments_panel.close_panel()
        else:
            self.comments_panel.open_panel()

    def _toggle_history(self) -> None:
        if self.history_bar.isVisible():
            self.history_bar.close_bar()
        else:
            self.find_bar.close_bar()
            self.history_bar.open_bar()

    # The past

    def _show_past(self, version: Version | None) -> None:
        if self.past is not None:
            self._stack.removeWidget(self.past)
            self.close_past(self.past)
            self.past.deleteLater()
            self.past = None
        if version is not None:
            self.past = self.make_past(self.opening.shared.document.at(version))
            self._stack.addWidget(self.past)
            self._stack.setCurrentWidget(self.past)
        else:
            self.editor.setFocus()
        self.changed.emit()

    # For whoever shows the view

    def finish_typing(self) -> None:
        self.editor.long_edits.finish()

    def undo_edit(self) -> None:
        self.editor.undo_edit()

    def redo_edit(self) -> None:
        self.editor.redo_edit()

    def show_newest(self) -> None:
        self.editor.show_newest()

    def show_person(self, node: int) -> None:
        self.editor.show_person(node)

    def describe(self) -> dict[str, Any]:
        return {
            "text": self.editor.toPlainText(),
            "carets": {caret.name: caret.position for caret in self.editor.remote_carets},
        }

    def close_view(self) -> None:
        if self.past is not None:
            self.close_past(self.past)
        self.comments_panel.close_view()
        self.editor.close_view()
