"""The view of an image: the picture edge to edge, tools that float over it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from liveobj.errors import Problem
from liveobj.objects.image import TEMPLATE_ID, Image, Mark
from liveobj.opening import Opening
from widgets.action import Action, always
from widgets.animation import Animation, may_move
from widgets.empty_state import EmptyState
from widgets.icons import show_icon
from widgets.image.image_canvas import ImageCanvas, Tool
from widgets.image.picture_files import PictureFiles, is_picture_file
from widgets.image.unpacking import Unpacking
from widgets.language import tr, tr_n
from widgets.look import SPACE_PX, float_above, kind, label
from widgets.object_kind import ObjectKind
from widgets.object_view import ObjectView, Surroundings
from widgets.throttle import QtAlarm, Throttle


class ImageView(ObjectView):
    """Attributes: `image`, `canvas`, `files`, `problem` (why the picture is not seen, or empty)."""

    def __init__(
        self, around: Surroundings, opening: Opening, parent: QWidget | None = None
    ) -> None:
        super().__init__(around, opening, parent)
        assert isinstance(opening.shared, Image), "the kind says what is opened"
        self.image = opening.shared
        self.files = PictureFiles(opening, around)
        self.problem = ""
        # The content that is to be seen, and whether it has been given to be unpacked.
        self._shown = ""
        self._unpacked = False
        self._picture = QImage()
        self._animation: Animation | None = None
        self._unpacking = Unpacking(self)
        self._unpacking.done.connect(self._on_unpacked)
        self.canvas = ImageCanvas(around.theme)
        self._actions = self._make_actions()
        self._build()
        self._throttle = Throttle(self._show_changes, QtAlarm(self))
        request = self._throttle.request
        self._subscriptions = [
            self.image.picture.observe(lambda change: self._on_change(change.origin.mine)),
            self.image.marks.observe(lambda change: self._on_change(change.origin.mine)),
            self.image.exchange.observe(lambda _: request()),
            self.image.presence.observe(lambda _: request()),
        ]
        self.canvas.drawn.connect(self._on_drawn)
        self.canvas.erased.connect(lambda marks: self._try(lambda: self.image.erase(marks)))
        around.theme.changed.connect(self.canvas.update)
        self._show_changes()

    # Building

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.canvas)
        self.setFocusProxy(self.canvas)
        self.setAcceptDrops(True)
        self._empty = EmptyState(
            self.around.theme,
            "image",
            tr("No picture yet"),
            tr("Drop a picture here, paste one with Ctrl+V, or open a file."),
            [self._offer("image.open")],
        )
        self._empty.setParent(self.canvas)
        self._words = label("", "muted", wrap=True, centred=True)
        self._words.setParent(self.canvas)
        self._bar = QFrame(self.canvas)
        kind(self._bar, "float")
        float_above(self._bar, self.around.theme)
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(*[SPACE_PX] * 4)
        row.setSpacing(2)
        self._buttons: dict[str, QToolButton] = {}
        for name, icon in _BUTTONS:
            row.addWidget(self._button(name, icon))
        self._bar.adjustSize()
        self.canvas.installEventFilter(self)
        self.set_tool(Tool.HAND)

    def _offer(self, identity: str) -> QAction:
        """An action as the button of an empty page has it."""
        action = next(each for each in self._actions if each.identity == identity)
        offer = QAction(action.title, self)
        offer.setEnabled(not action.why_not())
        offer.triggered.connect(action.run)
        return offer

    def _button(self, name: str, icon: str) -> QToolButton:
        action = next(each for each in self._actions if each.identity == f"image.{name}")
        button = QToolButton()
        show_icon(button, self.around.theme, icon)
        button.setToolTip(action.title)
        button.setAccessibleName(action.title)
        button.setCheckable(action.checked is not None)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: action.run() if not action.why_not() else None)
        self._buttons[name] = button
        return button

    def _arrange(self) -> None:
        area = self.canvas.rect()
        self._bar.adjustSize()
        # Inside a small frame the picture is seen; its tools are those of the palette.
        self._bar.setVisible(self._bar.width() <= area.width())
        left = (area.width() - self._bar.width()) // 2
        self._bar.move(QPoint(left, area.height() - self._bar.height() - 4 * SPACE_PX))
        bar = self._bar.height() + 4 * SPACE_PX if self._bar.isVisibleTo(self.canvas) else 0
        room = QSize(area.width(), max(0, area.height() - bar))
        size = self._empty.sizeHint().boundedTo(room)
        self._empty.resize(size)
        self._empty.move(
            (area.width() - size.width()) // 2, max(8, (area.height() - size.height()) // 2 - 20)
        )
        self._words.setGeometry(40, area.height() // 2 - 40, max(80, area.width() - 80), 80)

    # Showing

    def _on_change(self, mine: bool) -> None:
        self._throttle.request()
        if mine:
            self._throttle.flush()

    def _show_changes(self) -> None:
        now = self.image.now
        content = "" if now is None else now.content
        if content != self._shown:
            self._shown = content
            self._unpacked = False
            self.problem = ""
            self._picture = QImage()
            self._stand_still()
            self.canvas.show_picture(None, 0)
        data = None if self._unpacked else self.image.data()
        if data is not None:
            self._unpacked = True
            self._unpacking.start(content, data)
        self.canvas.set_turn(self.image.turn)
        self.canvas.show_marks(self.image.drawn(), self.image.presence.mine.colour)
        self._show_words()
        self.changed.emit()

    def _on_unpacked(self, content: str, image: QImage, problem: str) -> None:
        if content != self._shown:
            return
        self._picture, self.problem = image, problem
        self.canvas.show_picture(image, self.image.turn)
        data = self.image.data()
        if data is not None and not image.isNull() and may_move(data):
            self._animation = Animation(data, self)
            self._animation.stepped.connect(self._on_stepped)
            self.canvas.painted.connect(self._animation.painted)
        self._show_words()
        self.changed.emit()

    def _on_stepped(self, image: QImage) -> None:
        self.canvas.step(image)
        self.changed.emit()

    def _stand_still(self) -> None:
        animation, self._animation = self._animation, None
        if animation is not None:
            animation.close()
            animation.deleteLater()

    def state_words(self) -> str:
        """Why there is no picture to be seen; empty if there is one."""
        now = self.image.now
        if now is None or not self._picture.isNull():
            return ""
        if self.problem:
            return self.problem
        arrival = self.image.arrival()
        if arrival is None:
            return tr("The picture is being unpacked …")
        if arrival.problem:
            return arrival.problem
        if arrival.moving:
            percent = 100 * arrival.done // max(1, arrival.size)
            return tr("The picture is on its way: {percent} %", percent=percent)
        return tr("Nobody who is here now has this picture. It comes when somebody does.")

    def _show_words(self) -> None:
        words = self.state_words()
        self._words.setText(words)
        self._words.setVisible(bool(words))
        self._empty.setVisible(self.image.now is None)
        for name, button in self._buttons.items():
            action = next(each for each in self._actions if each.identity == f"image.{name}")
            button.setEnabled(not action.why_not())
            if action.checked is not None:
                button.setChecked(action.checked())
        self._arrange()

    # Intents

    def _try(self, intent: Callable[[], object]) -> None:
        try:
            intent()
        except Problem as problem:
            self.around.say(str(problem))

    def _on_drawn(self, mark: Mark) -> None:
        self._try(lambda: self.image.draw(mark))

    def set_tool(self, tool: Tool) -> None:
        """Chooses what the pointer does."""
        self.canvas.set_tool(tool)
        self._show_words()
        self.changed.emit()

    def rotate(self) -> None:
        self._try(self.image.rotate)

    def copy(self) -> None:
        QGuiApplication.clipboard().setImage(self._picture)

    # Actions

    def _why_no_edit(self) -> str:
        return "" if self.image.document.editable else tr("you can only view this image")

    def _why_no_picture(self) -> str:
        return tr("there is no picture") if self._picture.isNull() else ""

    def _why_no_mark(self) -> str:
        return self._why_no_edit() or self._why_no_picture()

    def _make_actions(self) -> tuple[Action, ...]:
        edit, look, draw = self._why_no_edit, self._why_no_picture, self._why_no_mark
        zoom = self.canvas.zoom_by

        def tool(each: Tool, title: str) -> Action:
            return Action(
                f"image.{each.value}",
                title,
                lambda: self.set_tool(each),
                "",
                always if each is Tool.HAND else draw,
                lambda: self.canvas.tool is each,
            )

        return (
            Action("image.open", tr("Open a picture…"), self.files.ask_file, "", edit),
            Action("image.paste", tr("Paste picture"), self.files.paste, "Ctrl+V", edit),
            Action("image.copy", tr("Copy picture"), self.copy, "Ctrl+C", look),
            Action("image.save", tr("Save picture…"), self.files.ask_save, "", look),
            Action("image.fit", tr("Fit picture"), self.canvas.fit, "Shift+1", look),
            Action("image.larger", tr("Zoom in"), lambda: zoom(1.25), "Ctrl++", look),
            Action("image.smaller", tr("Zoom out"), lambda: zoom(0.8), "Ctrl+-", look),
            Action("image.rotate", tr("Rotate to the right"), self.rotate, "", draw),
            tool(Tool.HAND, tr("Move the picture")),
            tool(Tool.PEN, tr("Draw with a pen")),
            tool(Tool.ARROW, tr("Draw an arrow")),
            tool(Tool.ERASER, tr("Erase marks")),
        )

    def actions_here(self) -> Sequence[Action]:
        return self._actions

    # For whoever shows the view

    def show_newest(self) -> None:
        self._throttle.request()
        self._throttle.flush()

    def describe(self) -> dict[str, Any]:
        now = self.image.now
        marks = len(self.image.drawn())
        return {
            "picture": "" if now is None else now.name or tr("A picture without a name"),
            "pixels": [self._picture.width(), self._picture.height()],
            "turned": 90 * self.image.turn,
            "marks": tr_n("{count} mark", "{count} marks", marks),
            "state": self.state_words(),
        }

    def close_view(self) -> None:
        for subscription in self._subscriptions:
            subscription.close()
        self._throttle.close()
        self._stand_still()
        self.around.theme.changed.disconnect(self.canvas.update)

    # Qt

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.canvas and event.type() is QEvent.Type.Resize:
            self._arrange()
        return super().eventFilter(watched, event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        mime = event.mimeData()
        pictures = [url for url in mime.urls() if is_picture_file(url.toLocalFile())]
        if (mime.hasImage() or pictures) and self.image.document.editable:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if self.image.document.editable:
            self.files.take_in(event.mimeData())
            event.acceptProposedAction()


_BUTTONS = (
    ("hand", "hand"),
    ("pen", "pencil"),
    ("arrow", "move-up-right"),
    ("eraser", "eraser"),
    ("rotate", "rotate-cw"),
    ("smaller", "zoom-out"),
    ("larger", "zoom-in"),
    ("fit", "maximize"),
    ("open", "folder-open"),
    ("save", "download"),
)

KIND = ObjectKind(
    TEMPLATE_ID,
    title=tr("Image"),
    sentence=tr("A picture that all see, to draw on together"),
    icon="image",
    view=ImageView,
)
