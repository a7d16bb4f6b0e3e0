"""Everything one can do on a desktop, as actions: palette, shortcuts, bars, menus and tests share
them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING

from widgets.action import Action, always
from widgets.desktop.arranging import Axis, Edge
from widgets.desktop.others import Other
from widgets.language import tr
from widgets.object_kind import ObjectKind

if TYPE_CHECKING:
    from widgets.desktop.desktop_view import DesktopView

_STEP = 1.25

# What the menu of an item offers, in groups.
ITEM_MENU = (
    ("desktop.enter", "desktop.open", "desktop.rename", "desktop.retry"),
    ("desktop.copy", "desktop.cut", "desktop.duplicate"),
    ("desktop.to_front", "desktop.forward", "desktop.backward", "desktop.to_back"),
    ("desktop.group", "desktop.ungroup"),
    ("desktop.delete",),
)


class Commands:
    """The actions of one view, by identity."""

    def __init__(self, view: DesktopView) -> None:
        self._view = view
        self._stage = view.stage
        self._desktop = view.stage.desktop
        self._fixed: dict[str, Action] = {}
        self._people: tuple[tuple[int, str], ...] = ()
        self._all: tuple[Action, ...] = ()
        self._add_choosing()
        self._add_editing()
        self._add_arranging()
        self._add_looking()
        for kind in view.around.kinds:
            self._add_place(kind)

    def __getitem__(self, identity: str) -> Action:
        return self._fixed[identity]

    def all(self, others: list[Other]) -> tuple[Action, ...]:
        """All of them; the same tuple as long as the same people are here."""
        people = tuple((other.node, other.name) for other in others)
        if not self._all or people != self._people:
            self._people = people
            follow = (self._follow(node, name) for node, name in people)
            self._all = (*self._fixed.values(), *follow)
        return self._all

    def _add(
        self,
        word: str,
        title: str,
        run: Callable[[], object],
        shortcut: str = "",
        why_not: Callable[[], str] = always,
        checked: Callable[[], bool] | None = None,
    ) -> None:
        def do() -> None:
            run()

        identity = f"desktop.{word}"
        self._fixed[identity] = Action(identity, title, do, shortcut, why_not, checked)

    def _add_choosing(self) -> None:
        intents, enter = self._view.intents, self._view.canvas.work_inside
        self._add("select_all", tr("Select all"), self._select_all, "Ctrl+A")
        self._add("enter", tr("Work inside"), enter, "", self._why_not_one)
        self._add("open", tr("Open in its own tab"), intents.open, "", self._why_none)
        self._add("copy", tr("Copy"), intents.copy, "Ctrl+C", self._why_none)
        show = self._show_selected
        self._add("show_selected", tr("Show what is selected"), show, "Shift+2", self._why_none)

    def _add_editing(self) -> None:
        view, desktop, intents = self._view, self._desktop, self._view.intents
        edit = self._why_not_edited
        self._add("cut", tr("Cut"), intents.cut, "Ctrl+X", edit)
        self._add("paste", tr("Paste"), intents.paste, "Ctrl+V", self._why_read_only)
        self._add("duplicate", tr("Duplicate"), intents.duplicate, "Ctrl+Shift+D", edit)
        self._add("delete", tr("Delete from the desktop"), intents.delete, "Del", edit)
        self._add("rename", tr("Rename"), view.rename_chosen, "F2", self._why_not_renamed)
        self._add("retry", tr("Try again to show it"), intents.retry, "", self._why_no_retry)
        stack = (
            ("to_front", tr("Bring to front"), desktop.bring_to_front, "Ctrl+Shift+]"),
            ("to_back", tr("Send to back"), desktop.send_to_back, "Ctrl+Shift+["),
            ("forward", tr("Bring forward"), desktop.bring_forward, "Ctrl+]"),
            ("backward", tr("Send backward"), desktop.send_backward, "Ctrl+["),
        )
        for word, title, do, shortcut in stack:
            self._add(word, title, partial(self._with_chosen, do), shortcut, edit)

    def _add_arranging(self) -> None:
        intents, desktop = self._view.intents, self._desktop
        two, three = partial(self._why_fewer, 2), partial(self._why_fewer, 3)
        group = partial(self._with_chosen, desktop.group)
        ungroup = partial(self._with_chosen, desktop.ungroup)
        self._add("group", tr("Group"), group, "Ctrl+G", two)
        self._add("ungroup", tr("Ungroup"), ungroup, "Ctrl+Shift+G", self._why_no_group)
        edges = (
            (Edge.LEFT, tr("Align left edges"), "Alt+A"),
            (Edge.CENTRE, tr("Align centres"), "Alt+H"),
            (Edge.RIGHT, tr("Align right edges"), "Alt+D"),
            (Edge.TOP, tr("Align top edges"), "Alt+W"),
            (Edge.MIDDLE, tr("Align middles"), "Alt+V"),
            (Edge.BOTTOM, tr("Align bottom edges"), "Alt+S"),
        )
        for edge, title, shortcut in edges:
            self._add(f"align.{edge}", title, partial(intents.align, edge), shortcut, two)
        axes = ((Axis.ACROSS, tr("Distribute across")), (Axis.DOWN, tr("Distribute downwards")))
        for axis, title in axes:
            self._add(f"distribute.{axis}", title, partial(intents.distribute, axis), "", three)

    def _add_looking(self) -> None:
        view = self._view
        self._add("fit", tr("Show everything"), view.show_all, "Shift+1")
        self._add("zoom_in", tr("Zoom in"), partial(view.zoom, _STEP), "Ctrl+=")
        self._add("zoom_out", tr("Zoom out"), partial(view.zoom, 1 / _STEP), "Ctrl+-")
        self._add("zoom_natural", tr("Zoom to 100 %"), self._zoom_naturally, "Ctrl+0")
        shown = view.outline.isVisible
        self._add("outline", tr("Outline"), view.toggle_outline, "Ctrl+Shift+L", checked=shown)
        words, others = tr("Show where the others are"), self._others_shown
        self._add("others", words, view.toggle_others, checked=others)

    def _add_place(self, kind: ObjectKind) -> None:
        title = tr("Place a new {kind} here", kind=kind.name_inside)
        place = partial(self._view.place_new, kind)
        self._add(f"place.{kind.word}", title, place, "", self._why_read_only)

    def _follow(self, node: int, name: str) -> Action:
        return Action(
            f"desktop.follow.{node}",
            tr("Follow {name}", name=name),
            lambda: self._view.company.follow(node),
            checked=lambda: self._view.company.followed == node,
        )

    def _select_all(self) -> None:
        self._stage.select(self._desktop.items)

    def _show_selected(self) -> None:
        self._stage.fit(self._stage.selection, 2.0)

    def _with_chosen(self, do: Callable[[Collection[str]], None]) -> None:
        do(self._stage.selection)

    def _zoom_naturally(self) -> None:
        self._view.zoom(1.0 / self._stage.camera.zoom)

    def _others_shown(self) -> bool:
        return self._view.canvas.show_others

    # Why not

    def _why_read_only(self) -> str:
        editable = self._desktop.document.editable
        return "" if editable else tr("you can look at this desktop, but not change it")

    def _why_none(self) -> str:
        return "" if self._stage.selection else tr("nothing is selected")

    def _why_not_one(self) -> str:
        return "" if len(self._stage.selection) == 1 else tr("select one thing")

    def _why_not_edited(self) -> str:
        return self._why_read_only() or self._why_none()

    def _why_no_retry(self) -> str:
        problem = self._view.canvas.live.problem
        failed = any(problem(item) for item in self._stage.chosen)
        return self._why_none() or ("" if failed else tr("what is selected is shown already"))

    def _why_not_renamed(self) -> str:
        return self._why_read_only() or self._why_not_one()

    def _why_fewer(self, count: int) -> str:
        enough = self._stage.has_units(count)
        words = tr("select at least {count} things", count=count)
        return self._why_read_only() or ("" if enough else words)

    def _why_no_group(self) -> str:
        grouped = any(item.groups for item in self._stage.chosen)
        return self._why_read_only() or ("" if grouped else tr("nothing in a group is selected"))
